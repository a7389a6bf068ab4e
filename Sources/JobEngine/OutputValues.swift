import Basics
import Foundation

/// The values that a program has written for other jobs.
struct OutputValues: Equatable {
  /// The bytes that are read; values go into command lines and events.
  static let limit = 1 << 20

  var values: [String: String] = [:]
  /// What was not understood, as a sentence.
  var fault: String?

  /// Reads `NAME=VALUE` lines; of two of one name the last counts.
  init(_ text: String) {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = line.hasSuffix("\r") ? line.dropLast() : line
      if line.isEmpty { continue }
      let name = line.prefix { $0 != "=" }
      if Self.isName(name), name.endIndex < line.endIndex {
        values[String(name)] = String(line[line.index(after: name.endIndex)...])
      } else if fault == nil {
        fault = "line \(index + 1) of $OPDASH_OUTPUT is not NAME=VALUE and is ignored: \(line.prefix(60))"
      }
    }
  }

  /// Reads the file of an attempt that has ended, and removes it unless it is kept; nil if there is none.
  init?(file path: String, isKept: Bool) {
    // Most programs write none, and a handle that can't be made costs much more.
    guard access(path, F_OK) == 0, let file = FileHandle(forReadingAtPath: path) else { return nil }
    defer { if !isKept { unlink(path) } }
    let bytes = (try? file.read(upToCount: Self.limit + 1)) ?? Data()
    try? file.close()
    self.init(String(decoding: bytes.prefix(Self.limit), as: UTF8.self))
    if bytes.count > Self.limit { fault = "$OPDASH_OUTPUT has more than 1 MiB: what follows is ignored" }
  }

  /// Removes values that events may not hold.
  mutating func removeSecrets(_ mask: SecretMask) {
    let secret = values.filter { mask.masked($0.value) != $0.value }.keys.sorted()
    guard let first = secret.first else { return }
    for name in secret { values[name] = nil }
    fault = "\(first) of $OPDASH_OUTPUT holds a secret, and is not given to other jobs"
  }

  private static func isName(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }
}
