import Basics
import Foundation

/// The values that a program has written for other jobs.
struct OutputValues: Equatable {
  /// The number of bytes that are read; values become parts of command lines and events.
  static let limit = 1 << 20

  var values: [String: String] = [:]
  /// The first error in its lines, or why it can't be read, as a sentence.
  var fault: String?
  /// Which value was left out because it holds a secret, as a sentence.
  private(set) var secretFault: String?
  /// The error of a file that is too long, as a sentence.
  private(set) var lengthFault: String?

  var faults: [String] { [fault, secretFault, lengthFault].compactMap(\.self) }

  /// Parses `NAME=VALUE` lines and, as GitHub's runners do, values of several lines between `NAME<<END` and a line
  /// `END`.
  ///
  /// If a name occurs twice, the last value counts. Lines end with LF or CR LF. A value that holds a secret is left out:
  /// it would appear in events.
  init(_ bytes: [UInt8], secrets: SecretMask? = nil) {
    parse(bytes, secrets)
    guard let secrets else { return }
    let secret = values.filter { secrets.masked($0.value) != $0.value }.keys.sorted()
    guard let first = secret.first else { return }
    for name in secret { values[name] = nil }
    secretFault = "\(first) of $OPDASH_OUTPUT holds a secret, and is not given to other jobs"
  }

  private mutating func parse(_ bytes: [UInt8], _ secrets: SecretMask?) {
    /// The start of a line; a secret in it is masked before it is cut.
    func shown(_ line: ArraySlice<UInt8>) -> Substring {
      let text = String(decoding: line, as: UTF8.self)
      return (secrets?.masked(text) ?? text).prefix(60)
    }
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
      if name.isVariableName, rest.first == UInt8(ascii: "=") {
        add(rest.dropFirst(), as: name)
      } else if name.isVariableName, rest.starts(with: "<<".utf8), rest.count > 2 {
        guard let end = lines[index...].firstIndex(of: rest.dropFirst(2)) else {
          let end = shown(rest.dropFirst(2))
          fault =
            fault ?? "line \(index) of $OPDASH_OUTPUT begins a value that no line \(end) ends: what follows is ignored"
          return
        }
        add(Array(lines[index..<end].joined(separator: [UInt8(ascii: "\n")]))[...], as: name)
        index = end + 1
      } else {
        fault = fault ?? "line \(index) of $OPDASH_OUTPUT is not NAME=VALUE and is ignored: \(shown(line))"
      }
    }
  }

  /// Adds a value, or the fault of a value that other jobs would get changed, because it isn't UTF-8.
  private mutating func add(_ value: ArraySlice<UInt8>, as name: ArraySlice<UInt8>) {
    let name = String(decoding: name, as: UTF8.self)
    values[name] = String(validating: value, as: UTF8.self)
    if values[name] == nil { fault = fault ?? "\(name) of $OPDASH_OUTPUT is not UTF-8, and is not given to other jobs" }
  }

  /// Reads the file of an attempt that has ended, and removes it unless it is kept; nil without a file.
  ///
  /// A program may have put anything in its place.
  init?(file path: String, isKept: Bool, secrets: SecretMask? = nil) {
    do throws(FileProblem) {
      let descriptor = try ForeignFile.open(path, .own)
      defer { close(descriptor) }
      let bytes = try ForeignFile.prefix(of: descriptor, path, Self.limit + 1)
      // Without the line that the limit cuts.
      let end = bytes.count > Self.limit ? bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0 : bytes.count
      self.init(Array(bytes[..<end]), secrets: secrets)
      if bytes.count > Self.limit { lengthFault = "$OPDASH_OUTPUT has more than 1 MiB: what follows is ignored" }
    } catch {
      if error.isAbsence { return nil }
      self.init([])
      fault = error.refusal(of: "$OPDASH_OUTPUT")
    }
    if !isKept { unlink(path) }
  }
}
