import Foundation

/// The boot of this machine: other machines and earlier boots have processes and sockets of the same numbers.
package enum MachineBoot {
  /// Differs between two boots of any machines; empty if unknown.
  package static let id =
    (try? ForeignFile.contents("/proc/sys/kernel/random/boot_id", .named, limit: 1024)).map {
      String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    } ?? ""
}
