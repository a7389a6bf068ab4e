import Operations
import Testing

@testable import Processes

/// Collected output and its lines, without a process.
@Suite struct OutputCollectorTests {
  private func collect(
    _ chunks: [String], limit: Int, _ overflow: ProcessOutput.Overflow, isText: Bool = true
  ) -> (fits: Bool, output: CollectedOutput) {
    var collector = OutputCollector(limit: limit, whenExceeded: overflow, isText: isText)
    var fits = true
    for chunk in chunks where !collector.append(Array(chunk.utf8)) { fits = false }
    return (fits, collector.finish())
  }

  @Test func outputWithinTheLimitIsKeptWhole() {
    for overflow in [ProcessOutput.Overflow.fail, .keepBeginning, .keepEnd] {
      let (fits, output) = collect(["ab", "", "cd"], limit: 4, overflow)
      #expect(fits && output == CollectedOutput("abcd"))
    }
    #expect(collect([], limit: 0, .fail).output == CollectedOutput())
  }

  @Test func outputBeyondTheLimitIsCutAtOneEnd() {
    #expect(collect(["abc", "de"], limit: 4, .keepBeginning) == (true, CollectedOutput("abcd", isCut: true)))
    #expect(collect(["abc", "de"], limit: 4, .keepEnd) == (true, CollectedOutput("bcde", isCut: true)))
    #expect(collect(["abcdefghijkl"], limit: 4, .keepEnd) == (true, CollectedOutput("ijkl", isCut: true)))
    #expect(collect(["abc", "de"], limit: 4, .fail) == (false, CollectedOutput("abcd", isCut: true)))
    #expect(collect(["abc", "de"], limit: .max, .keepEnd) == (true, CollectedOutput("abcde")))
    #expect(collect(["a"], limit: 0, .keepEnd) == (true, CollectedOutput(isCut: true)))
    #expect(collect(["a"], limit: 0, .keepBeginning) == (true, CollectedOutput(isCut: true)))
  }

  /// However the output comes in chunks, the last bytes are kept.
  @Test func theEndIsKeptWhateverTheChunks() {
    let text = (0..<1000).map { "\($0) " }.joined()
    for size in [1, 3, 7, 64, 5000] {
      var chunks: [String] = []
      var rest = text[...]
      while !rest.isEmpty {
        chunks.append(String(rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      #expect(collect(chunks, limit: 100, .keepEnd).output == CollectedOutput(String(text.suffix(100)), isCut: true))
    }
  }

  @Test func aCutGoesThroughNoCharacter() {
    #expect(collect(["aé"], limit: 2, .keepBeginning).output.text == "a")
    #expect(collect(["éa"], limit: 2, .keepEnd).output.text == "a")
    #expect(collect(["🙂"], limit: 3, .keepBeginning).output.text.isEmpty)
    #expect(collect(["🙂b"], limit: 4, .keepEnd).output.text == "b")
    #expect(collect(["aé"], limit: 2, .keepBeginning, isText: false).output.bytes == [97, 0xC3])
  }

  @Test func textAndBytesAreMadeOfEachOther() {
    #expect(CollectedOutput("é").bytes == [0xC3, 0xA9])
    #expect(CollectedOutput(bytes: [0xC3, 0xA9]).text == "é")
    #expect(CollectedOutput(bytes: [97, 0xFF]).text == "a\u{FFFD}")
    #expect(ShellResult(standardOutput: "text").output == "text")
    #expect("\(CollectedOutput(bytes: [97]))" == "a")
  }

  @Test(arguments: [
    ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("a\r\n\r\nb\r", ["a", "", "b"]),
    ("a\rb\n", ["a\rb"]), ("\n\n", ["", ""]),
  ])
  func linesHaveNoLineFeeds(text: String, lines: [String]) {
    #expect(CollectedOutput(text).lines == lines)
  }

  // MARK: Failures

  @Test(arguments: [
    (ProcessExit.exited(2), "make exited with status 2"), (.signalled(9), "make was killed by SIGKILL"),
    (.signalled(64), "make was killed by signal 64"),
    (.exited(-1), "make ended, and other code of this program took its exit status"),
  ])
  func aFailureIsOneSentence(exit: ProcessExit, sentence: String) {
    let failure = ShellFailure(program: "make", result: ShellResult(exit: exit))
    #expect(failure.description == sentence)
    #expect(failure.localizedDescription == sentence)
    #expect((failure as any Error).localizedDescription == sentence)
  }

  @Test func aFailureNamesTheLastLineOfTheErrorOutput() {
    func text(_ error: String) -> String {
      ShellFailure(program: "x", result: ShellResult(exit: .exited(1), standardError: .init(error))).description
    }
    #expect(text("one\ntwo\n\n  \n") == "x exited with status 1: two")
    #expect(text("\u{1B}[1mbold\u{1B}[0m\n") == "x exited with status 1: bold")
    #expect(text("a\tb\u{7}\u{9B}2J\u{0}\n\u{7}\n") == "x exited with status 1: a b2J")
    #expect(text(String(repeating: "y", count: 300)).count == 24 + 200)
  }

  @Test func anErrorThatAProgramMakesHasItsSentence() {
    let error = ProcessError(.programNotFound, "make: no such program in PATH")
    #expect(error.localizedDescription == "make: no such program in PATH")
  }

  @Test func aLineOf200CharactersIsNamedWhole() {
    func text(_ count: Int) -> String {
      let error = CollectedOutput(String(repeating: "y", count: count))
      return ShellFailure(program: "x", result: ShellResult(exit: .exited(1), standardError: error)).description
    }
    #expect(text(200) == "x exited with status 1: " + String(repeating: "y", count: 200))
    #expect(text(201) == "x exited with status 1: " + String(repeating: "y", count: 199) + "…")
  }
}
