import Foundation
import Support
import Testing

/// Reading and copying a log in a real terminal: what the clipboard gets is what the job wrote.
@Suite struct ReadingTests {
  private let place: Workplace

  init() throws {
    place = try Workplace(files: [
      "read.yml": #"""
      slots: 1
      jobs:
        first:
          run: |
            i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo "line $i of first"; done
            printf '\033[1;31merror:\033[0m\tna\303\257ve \033]0;evil\007\346\274\242\345\255\227\n'
            echo 'after the error'
            printf '\033]8;;http://x.test\033\\a link\033]8;;\033\\ and the needle\n'
            i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo "tail $i"; done
            echo 'one more needle'
            exit 1
        second: { needs: { first: failed }, run: 'echo second speaks; echo "of a needle too"' }
      """#
    ])
  }

  /// The texts that have been sent to the clipboard.
  private func copied(_ recording: Data) -> [String] {
    let text = String(decoding: recording, as: UTF8.self)
    return text.components(separatedBy: "\u{1B}]52;c;").dropFirst().compactMap { rest in
      let payload = rest.prefix { $0 != "\u{1B}" && $0 != "\u{7}" }
      return Data(base64Encoded: String(payload)).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  @Test func whatIsCopiedIsWhatTheJobWrote() throws {
    let window = try place.window("run", "read.yml", "--keep-open", "always")
    try window.session.record(to: place.folder.file("bytes").path)
    try window.sees("Ended after")
    var expected: [String] = []
    func expectCopied(_ text: String, at location: SourceLocation = #_sourceLocation) {
      expected.append(text)
      var last: [String] = []
      let isThere = eventually {
        last = copied(place.contents("bytes") ?? Data())
        return last.count >= expected.count
      }
      #expect(isThere && last == expected, "\(last)", sourceLocation: location)
    }

    try window.press("k", "E")
    try window.sees("the first error")
    try window.sees("the cursor on it") { $0.lines.contains { $0.hasPrefix("▸") && $0.contains("error:") } }
    try window.press("y")
    expectCopied("error:\tnaïve 漢字")
    try window.sees("copied 1 line, 20 bytes")

    try window.press("v", "Down", "Down")
    try window.sees("y copy 3 lines")
    try window.press("y")
    expectCopied("error:\tnaïve 漢字\nafter the error\na link and the needle")

    try window.press("/")
    try window.session.type("NEEDLE")
    try window.press("Enter")
    try window.sees("/NEEDLE 1 of 2")
    try window.press("n")
    try window.sees("/NEEDLE 2 of 2")
    try window.press("n")
    try window.sees("past the end: the first match")
    try window.press("Escape", "L")
    try window.sees("log: 2 jobs")
    try window.press("G")
    try window.sees("the lines of both") { screen in
      screen.lines.contains { $0.contains(" second ") && $0.contains("second speaks") }
        && screen.lines.contains { $0.contains(" first ") && $0.contains("one more needle") }
    }
    try drag(in: window, from: "more needle", to: "second speaks", length: "second".count)
    expectCopied("more needle\nsecond")
    try window.press("Y")
    let all = (1...60).map { "line \($0) of first" } + ["error:\tnaïve 漢字", "after the error", "a link and the needle"]
    let rest = (1...30).map { "tail \($0)" } + ["one more needle", "second speaks", "of a needle too"]
    expectCopied((all + rest).joined(separator: "\n"))
    try window.press("F")
    var path = ""
    _ = eventually {
      path = copied(place.contents("bytes") ?? Data()).last ?? ""
      return path.hasPrefix("/")
    }
    #expect(path.hasPrefix(place.folder.url.path) && path.contains("/logs/second.1.1.log"), "\(path)")
    #expect(FileManager.default.contents(atPath: path)?.starts(with: Data("second speaks\n".utf8)) == true)
    try window.press("q")
    #expect(try window.exitStatus() == 1)
  }

  /// Presses on the first cell of `start`, and lets go `length` cells into `end`.
  private func drag(in window: Window, from start: String, to end: String, length: Int) throws {
    let lines = try window.screen().lines
    func find(_ text: String) throws -> (x: Int, y: Int) {
      for (y, line) in lines.enumerated() {
        // Below the list, whose details may say the same.
        if y > 12, let range = line.range(of: text) {
          return (line.distance(from: line.startIndex, to: range.lowerBound) + 1, y + 1)
        }
      }
      throw Window.Unseen(description: "no \(text) on\n\(lines.joined(separator: "\n"))")
    }
    let (from, to) = try (find(start), find(end))
    try window.session.type("\u{1B}[<0;\(from.x);\(from.y)M")
    try window.session.type("\u{1B}[<32;\(from.x + 2);\(from.y)M")
    try window.session.type("\u{1B}[<32;\(to.x + length - 1);\(to.y)M")
    try window.session.type("\u{1B}[<0;\(to.x + length - 1);\(to.y)m")
  }
}
