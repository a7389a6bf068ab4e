import CProcess
import Foundation
import Operations

/// The environment of this process when the supervisor was created, and the environments of children, which are based
/// on it.
///
/// Each child gets a cookie, which identifies descendants that have left its group and its session.
struct LaunchEnvironment: @unchecked Sendable {
  static let variable = "OPDASH_RUN"

  private struct Entry {
    let key: String
    let text: UnsafeMutablePointer<CChar>
  }

  // Safe: neither the pointers nor the copies that they point to, which are never freed, change after init.
  private let entries: [Entry]
  private let texts: [UnsafeMutablePointer<CChar>]
  /// The variable's value in this process and a colon: a run within a run is found by both cookies.
  private let outer: String
  private let path: String?
  private let cookie: String

  /// Creates the environment from `variables`, a C array of `NAME=value` that ends with a null pointer.
  init(
    cookie: String, of variables: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = cprocess_environment()
  ) {
    self.cookie = cookie
    var entries: [Entry] = []
    var outer = ""
    var path: String?
    var next = variables
    while let text = next?.pointee {
      next = next?.advanced(by: 1)
      guard let equals = strchr(text, Int32(UInt8(ascii: "="))) else { continue }
      let key = String(decoding: UnsafeRawBufferPointer(start: text, count: equals - text), as: UTF8.self)
      switch key {
      case Self.variable: outer = String(cString: equals + 1) + ":"
      case "PATH": path = String(cString: equals + 1)
      default: break
      }
      let clean =
        MakeFlags.variables.contains(key) ? Self.withoutDescriptors(text, from: equals - text + 1) : strdup(text)
      if key != Self.variable, let copy = clean { entries.append(Entry(key: key, text: copy)) }
    }
    self.entries = entries
    self.outer = outer
    self.path = path
    texts = entries.map(\.text)
  }

  /// A copy of a variable whose value, from this offset on, consists of flags of make, without descriptors.
  ///
  /// Children don't inherit these, and make prints a warning about them.
  private static func withoutDescriptors(
    _ text: UnsafeMutablePointer<CChar>, from start: Int
  ) -> UnsafeMutablePointer<CChar>? {
    let bytes = UnsafeRawBufferPointer(start: text, count: strlen(text))
    let clean = bytes[..<start] + MakeFlags(bytes[start...]).withoutDescriptors().bytes + [0]
    return strdup(clean.map(CChar.init(bitPattern:)))
  }

  /// The file to execute: the name itself if it has a slash, or else the first executable of this name in the child's
  /// PATH.
  ///
  /// Relative folders in the PATH, and the result, are relative to the child's directory.
  func program(
    named name: String, in environment: ProcessEnvironment, from folder: String?
  ) throws(ProcessError) -> String {
    if name.utf8.contains(UInt8(ascii: "/")) { return name }
    var unusable: String?
    let inherited = environment.passes(on: "PATH") ? path : nil
    let path = environment.variables["PATH"] ?? inherited ?? "/usr/local/bin:/usr/bin:/bin"
    for directory in path.unicodeScalars.split(separator: ":", omittingEmptySubsequences: false) {
      let candidate = (directory.isEmpty ? "." : String(directory)) + "/" + name
      let file = folder.map { candidate.isAbsolutePath ? candidate : "\($0)/\(candidate)" } ?? candidate
      guard FileStatus(file, followsLink: true)?.kind == S_IFREG else { continue }
      if access(file, X_OK) == 0 { return candidate }
      unusable = unusable ?? candidate
    }
    if let unusable { throw .notExecutable(unusable) }
    throw ProcessError(.programNotFound, "\(name): no such program in PATH")
  }

  /// Calls `body` with the child's environment; returns nil if a variable contains a zero byte, or has no name or one
  /// with `=`.
  func withPointers<Result>(
    launch number: UInt64, _ environment: ProcessEnvironment,
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Result
  ) -> Result? {
    var added = CStrings()
    guard added.append(Self.variable, "=", outer, cookie, "/", String(number)) else { return nil }
    for (key, value) in environment.variables where key != Self.variable {
      guard !key.isEmpty, !key.utf8.contains(UInt8(ascii: "=")), added.append(key, "=", value) else { return nil }
    }
    let kept = environment.isUnchanged ? texts : entries.filter { environment.passes(on: $0.key) }.map(\.text)
    return added.withPointers(after: kept, body)
  }

  /// The reason why no program can be given these variables.
  ///
  /// Of a name with `=`, only the part before it: the rest may be a secret value.
  static func fault(in variables: [String: String]) -> String {
    let names = variables.keys.compactMap { name in
      name.utf8.firstIndex(of: UInt8(ascii: "=")).map { String(decoding: name.utf8[..<$0], as: UTF8.self) }
    }
    if let name = names.min() { return "an environment variable has '=' in its name, after '\(name)'" }
    return "an environment variable has no name, or holds a zero byte"
  }
}
