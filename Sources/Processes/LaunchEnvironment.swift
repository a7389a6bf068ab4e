import CProcess
import Foundation

/// The environment of this process as it was when it was first asked for, from which each child's is made.
///
/// It carries the cookie by which what left its group and its session is found again.
struct LaunchEnvironment: @unchecked Sendable {
  static let variable = "OPDASH_RUN"

  private struct Entry {
    let key: String
    let text: UnsafeMutablePointer<CChar>
  }

  // Safe: neither the pointers nor what they point to, a copy that is never freed, changes after init.
  private let entries: [Entry]
  private let texts: [UnsafeMutablePointer<CChar>]
  /// What stood in the variable before: a run within a run is found by both.
  private let outer: String
  private let path: String?
  private let cookie: String

  init(cookie: String) {
    self.cookie = cookie
    var entries: [Entry] = []
    var outer = ""
    var path: String?
    var next = cprocess_environment()
    while let text = next?.pointee {
      next = next?.advanced(by: 1)
      guard let copy = strdup(text), let equals = strchr(copy, Int32(UInt8(ascii: "="))) else { continue }
      let key = String(decoding: UnsafeRawBufferPointer(start: copy, count: equals - copy), as: UTF8.self)
      switch key {
      case Self.variable: outer = String(cString: equals + 1) + ":"
      case "PATH": path = String(cString: equals + 1)
      default: break
      }
      if key != Self.variable { entries.append(Entry(key: key, text: copy)) }
    }
    self.entries = entries
    self.outer = outer
    self.path = path
    texts = entries.map(\.text)
  }

  /// Where a child with these additions looks for programs.
  func searchPath(with additions: [String: String]) -> String {
    additions["PATH"] ?? path ?? "/usr/local/bin:/usr/bin:/bin"
  }

  /// Gives the child's environment for the time of the call; nil if an addition holds a zero byte, or has no name.
  func withPointers<Result>(
    launch number: UInt64, with additions: [String: String],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Result
  ) -> Result? {
    var added = CStrings()
    guard added.append(Self.variable, "=", outer, cookie, "/", String(number)) else { return nil }
    for (key, value) in additions where key != Self.variable {
      guard !key.isEmpty, !key.contains("="), added.append(key, "=", value) else { return nil }
    }
    let kept = additions.isEmpty ? texts : entries.filter { additions[$0.key] == nil }.map(\.text)
    return added.withPointers(after: kept, body)
  }
}
