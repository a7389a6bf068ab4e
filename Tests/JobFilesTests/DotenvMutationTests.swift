import Basics
import Foundation
import Testing

@testable import JobFiles

/// Files of variables put together at random: whatever comes in, the answer is variables or faults inside of the file.
@Suite struct DotenvMutationTests {
  private static let tokens = [
    "A", "B=", "=", "\n", "\r\n", "\r", " ", "\t", "'", "\"", "\\", "\\n", "#", " #", "${", "}", "${A}", "${A:-x}",
    "${B:-", "${B:?", "${A+", "$", "$A", "$$", "export ",
    "é", "😀", "\u{FEFF}", "\u{2028}", "A=1\n", "x", ":", "\\\n",
  ]

  @Test(arguments: 0..<8)
  func aRandomFileGivesVariablesOrFaultsInsideOfIt(part: Int) throws {
    var random = SplitMix(seed: UInt64(part + 1))
    for _ in 0..<1000 {
      let text = (0..<Int(random.next() % 24)).map { _ in Self.tokens[Int(random.next() % UInt64(Self.tokens.count))] }
        .joined()
      let source = try SourceText(Array(text.utf8), file: ".env", isYAML: false)
      let faults = FaultLog(file: ".env", source: source)
      var reader = DotenvReader(source, file: 0, faults: faults, known: ["A": "known"])
      let found = reader.read()
      for (name, value) in found where name.isEmpty || value.unicodeScalars.contains("\0") {
        Issue.record("\(name) of \(String(reflecting: text))")
      }
      let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
      func isOutside(_ fault: JobFileFault) -> Bool {
        !(1...lines.count).contains(fault.line) || fault.column > lines[fault.line - 1].count + 1
      }
      for fault in faults.list where isOutside(fault) {
        Issue.record("\(fault) is outside of \(String(reflecting: text))")
      }
      // The same text gives the same variables.
      var again = DotenvReader(source, file: 0, faults: FaultLog(file: ".env", source: source), known: ["A": "known"])
      if again.read() != found { Issue.record("it differs: \(String(reflecting: text))") }
    }
  }
}
