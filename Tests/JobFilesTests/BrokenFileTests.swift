import Foundation
import JobFiles
import Testing

/// Broken files and all that is said of each, in a text that a person can read.
///
/// Each file stands in the golden itself, between its title and the messages, so that another one is added there. With
/// OPDASH_RECORD=1 in the environment the messages are written, and the run that records fails. The files whose titles say so
/// have their tabs and other bytes as `\t`, `\r` and `\xNN`.
struct BrokenFileTests {
  @Test func everyBrokenJobFileGetsMessagesThatHelp() throws {
    try compare("broken-job-files.txt", atLeast: 40) { bytes in
      var messages: [JobFileFault] = []
      do throws(JobFileFaults) {
        _ = try JobFile.decode(
          bytes, file: "jobs.yml", directory: "/home/me/work",
          environment: ["HOME": "/home/me", "PATH": "/usr/bin", "LANG": "C.UTF-8"]
        ) { messages.append($0) }
      } catch {
        messages = error.faults
      }
      return messages
    }
  }

  @Test func everyBrokenSettingsFileGetsMessagesThatHelp() throws {
    try compare("broken-settings-files.txt", atLeast: 10) { bytes in
      do throws(JobFileFaults) {
        _ = try SettingsFile.decode(bytes, file: "config.yaml", SettingsFileTests.vocabulary)
        return []
      } catch {
        return error.faults
      }
    }
  }

  /// A file of a golden with the messages about it.
  private struct Case {
    var title: String
    var file: String
    var messages = ""

    var bytes: [UInt8] {
      guard title.hasSuffix("(with escapes)") else { return Array(file.utf8) }
      var bytes: [UInt8] = []
      var rest = Array(file.utf8)[...]
      while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "\\"), let next = rest.first else {
          bytes.append(byte)
          continue
        }
        rest = rest.dropFirst()
        switch next {
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "x"):
          bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0x3F)
          rest = rest.dropFirst(2)
        default: bytes += [byte, next]
        }
      }
      return bytes
    }
  }

  private static let titleMark = "════ "
  private static let messageMark = "────"

  private func compare(
    _ name: String, atLeast count: Int, _ messages: ([UInt8]) -> [JobFileFault],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Goldens/\(name)")
    let parts = try String(contentsOf: golden, encoding: .utf8).components(separatedBy: "\n" + Self.titleMark)
    let cases = parts.dropFirst().map { part -> Case in
      let lines = part.components(separatedBy: "\n")
      let end = lines.firstIndex(of: Self.messageMark) ?? lines.endIndex
      let found = lines[min(end + 1, lines.count)...].joined(separator: "\n")
      return Case(title: lines[0], file: lines[1..<end].map { $0 + "\n" }.joined(), messages: found)
    }
    #expect(cases.count >= count, sourceLocation: sourceLocation)
    var now = parts.prefix(1) + []
    for broken in cases {
      let faults = messages(broken.bytes)
      #expect(!faults.isEmpty, "nothing is said of '\(broken.title)'", sourceLocation: sourceLocation)
      // The line of the file is no wider than an 80-column terminal.
      for line in faults.flatMap({ $0.lines(width: 80).dropFirst() }) { #expect(line.count <= 80, "\(line)") }
      let text = faults.flatMap { $0.lines(width: 80) }.map { $0 + "\n" }.joined()
      if text.trimmingCharacters(in: .newlines) != broken.messages.trimmingCharacters(in: .newlines) {
        Issue.record("\(name): '\(broken.title)' now gets\n\(text)", sourceLocation: sourceLocation)
      }
      now.append("\(broken.title)\n\(broken.file)\(Self.messageMark)\n\(text)")
    }
    guard ProcessInfo.processInfo.environment["OPDASH_RECORD"] == "1" else { return }
    try Data(now.joined(separator: "\n" + Self.titleMark).utf8).write(to: golden)
    Issue.record("recorded \(name): read it, then run without OPDASH_RECORD", sourceLocation: sourceLocation)
  }
}
