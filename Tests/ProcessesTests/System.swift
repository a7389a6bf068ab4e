import Foundation
import Operations

/// Facts about processes from /proc.
enum System {
  /// A unique number of seconds to sleep, by which a process is found in the list of command lines.
  static func marker() -> String { "9\(UInt32.random(in: 1_000_000...4_000_000_000))" }

  /// The living processes with a marker in their command line.
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

  /// Whether a process is stopped by a signal, or suspended in vfork (D) by a stopped child.
  static func isStopped(_ pid: Int32) -> Bool { "TD".contains(state(of: pid)) }

  /// How many bytes a process has written.
  static func written(by pid: Int32) -> Int {
    let line = text("/proc/\(pid)/io").split(separator: "\n").first { $0.hasPrefix("wchar: ") }
    return line.flatMap { Int($0.dropFirst(7)) } ?? 0
  }

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
