import JobFiles
import Screen
import Testing

/// The line of the file below a message, and the mark below its place.
struct ExcerptTests {
  /// The line and the mark of the only fault of a file.
  private func excerpt(_ text: String, width: Int = 80, sourceLocation: SourceLocation = #_sourceLocation) -> [String] {
    do throws(JobFileFaults) {
      _ = try JobFile.decode(Array(text.utf8), file: "ci.yml", directory: "/jobs")
      return []
    } catch {
      #expect(error.faults.count == 1, "\(error)", sourceLocation: sourceLocation)
      return Array(error.faults[0].lines(width: width).dropFirst())
    }
  }

  @Test func theMarkIsAsWideAsTheWordAtThePlace() {
    #expect(excerpt("jobs: { a: { rn: ls } }") == ["    1 | jobs: { a: { rn: ls } }", "      |              ^~"])
  }

  @Test func aTabTakesTheBlanksUpToTheNextStop() {
    #expect(
      excerpt("jobs: {\ta: {\trn: ls } }") == ["    1 | jobs: { a: {    rn: ls } }", "      |                 ^~"])
  }

  @Test func wideCharactersTakeTwoCells() {
    #expect(
      excerpt("jobs: { 構築: { run: ls, 建: x } }") == [
        "    1 | jobs: { 構築: { run: ls, 建: x } }", "      |                          ^~",
      ])
  }

  @Test func charactersThatATerminalObeysOrHidesAreEscapes() {
    #expect(
      excerpt("jobs: { \"a\u{202E}\": { run: ls } }") == [
        #"    1 | jobs: { "a\u{202E}": { run: ls } }"#, "      |         ^~~~~~~~~~~",
      ])
    #expect(excerpt("jobs: \u{1B}[31m")[0] == #"    1 | jobs: \u{1B}[31m"#)
  }

  @Test(arguments: [20, 30, 40, 80, 200])
  func aLongLineIsCutAroundThePlaceAtEveryWidth(width: Int) throws {
    for before in [0, 1, 10, 100, 5000] {
      for after in [0, 1, 10, 100, 5000] {
        let text =
          "jobs: { a: { x-a: \"\(String(repeating: "建", count: before))\", rn: ls, "
          + "x-b: \"\(String(repeating: "b", count: after))\" } }"
        let lines = excerpt(text, width: width)
        try #require(lines.count == 2)
        // Narrower than this nothing could be read.
        #expect(lines.allSatisfy { TextWidth.of($0) <= max(width, 28) })
        let place = lines[1].count - 2
        var cells = 0
        let rest = lines[0].drop { character in
          guard cells < place else { return false }
          cells += TextWidth.of(character)
          return true
        }
        #expect(lines[1].hasSuffix(" ^~") && rest.hasPrefix("rn"), "\(lines)")
      }
    }
  }

  @Test func aPlaceInAURLWithACredentialMovesToItsBeginning() {
    #expect(
      excerpt("jobs: { a: { download: 'http://me:s3${no}cret@h/x?token=s3cret' } }") == [
        "    1 | jobs: { a: { download: 'http://***@h/x?token=***' } }",
        "      |                         ^~~~~~~~~~~~~~~~~~~~~~~~~",
      ])
  }
}
