import Foundation
import Operations

/// What the system says about processes, from outside.
enum System {
  /// A number that no other process has in its command line: sleep for so many seconds to be found.
  static func marker() -> String { "9\(UInt32.random(in: 1_000_000...4_000_000_000))" }

  /// The living processes with this word in their command line.
  static func processes(with marker: String) -> [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { Int32($0) }.filter { pid in
      pid != getpid() && text("/proc/\(pid)/cmdline").contains(marker) && !"ZX ".contains(state(of: pid))
    }
  }

  /// The letter of /proc/PID/stat; a blank if there is no such process.
  static func state(of pid: Int32) -> Character {
    let stat = text("/proc/\(pid)/stat")
    guard let end = stat.lastIndex(of: ")") else { return " " }
    return stat[end...].dropFirst(2).first ?? " "
  }

  /// Whether it is stopped by a signal, or waits in the kernel (D) for a stopped child of its that is about to execute.
  static func isStopped(_ pid: Int32) -> Bool { "TD".contains(state(of: pid)) }

  /// How many bytes a process has written.
  static func written(by pid: Int32) -> Int {
    let line = text("/proc/\(pid)/io").split(separator: "\n").first { $0.hasPrefix("wchar: ") }
    return line.flatMap { Int($0.dropFirst(7)) } ?? 0
  }

  static func isGone(_ pid: Int32) -> Bool { kill(pid, 0) != 0 && errno == ESRCH }

  static func text(_ path: String) -> String {
    guard let data = FileManager.default.contents(atPath: path) else { return "" }
    return String(decoding: data, as: UTF8.self)
  }

  /// The probe program, which is built beside the tests.
  static let probe = URL(
    fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
  )
  .deletingLastPathComponent().appendingPathComponent("ProcessProbe").path
}
