import Basics
import Foundation

/// The values that a program has written for other jobs.
struct OutputValues: Equatable {
  /// The number of bytes that are read; values become parts of command lines and events.
  static let limit = 1 << 20

  var values: [String: String] = [:]
  /// The error, as a sentence.
  var fault: String?

  /// Parses `NAME=VALUE` lines and, as GitHub's runners do, values of several lines between `NAME<<END` and a line
  /// `END`.
  ///
  /// If a name occurs twice, the last value counts. Lines end with LF or CR LF.
  init(_ bytes: [UInt8]) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
      line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
    var index = 0
    while index < lines.count {
      let line = lines[index]
      index += 1
      if line.isEmpty { continue }
      let name = line.prefix { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "<") }
      let rest = line[name.endIndex...]
      if Self.isName(name), rest.first == UInt8(ascii: "=") {
        values[Self.text(name)] = Self.text(rest.dropFirst())
      } else if Self.isName(name), rest.starts(with: "<<".utf8), rest.count > 2 {
        guard let end = lines[index...].firstIndex(of: rest.dropFirst(2)) else {
          let text = Self.text(rest.dropFirst(2)).prefix(60)
          fault =
            fault ?? "line \(index) of $OPDASH_OUTPUT begins a value that no line \(text) ends: what follows is ignored"
          return
        }
        values[Self.text(name)] = Self.text(Array(lines[index..<end].joined(separator: [UInt8(ascii: "\n")])))
        index = end + 1
      } else {
        let text = Self.text(line).prefix(60)
        fault = fault ?? "line \(index) of $OPDASH_OUTPUT is not NAME=VALUE and is ignored: \(text)"
      }
    }
  }

  /// Reads the file of an attempt that has ended, and removes it unless it is kept; nil without a file.
  ///
  /// A program may have put anything in its place.
  init?(file path: String, isKept: Bool) {
    do throws(FileProblem) {
      let descriptor = try ForeignFile.open(path, .own)
      defer { close(descriptor) }
      let bytes = try ForeignFile.prefix(of: descriptor, path, Self.limit + 1)
      self.init(bytes.count > Self.limit ? bytes.dropLast() : bytes)
      if bytes.count > Self.limit { fault = "$OPDASH_OUTPUT has more than 1 MiB: what follows is ignored" }
    } catch {
      if error.isAbsence { return nil }
      self.init([])
      if case .system = error.reason {
        fault = "$OPDASH_OUTPUT can't be read: \(error.message)"
      } else {
        fault = "$OPDASH_OUTPUT is not read: it is \(error.reason.words): leave the file in its place, and write to it"
      }
    }
    if !isKept { unlink(path) }
  }

  /// Removes values that must not appear in events.
  mutating func removeSecrets(_ mask: SecretMask) {
    let secret = values.filter { mask.masked($0.value) != $0.value }.keys.sorted()
    guard let first = secret.first else { return }
    for name in secret { values[name] = nil }
    fault = "\(first) of $OPDASH_OUTPUT holds a secret, and is not given to other jobs"
  }

  private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  private static func isName(_ text: ArraySlice<UInt8>) -> Bool {
    guard let first = text.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
    return text.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }
}
