import Foundation
import Support
import Testing

/// Lines without an end and lines that are drawn again, in a real terminal.
struct RedrawTests {
  private let place: Workplace

  init() throws {
    place = try Workplace(files: [
      "redraw.yml": #"""
      jobs:
        fetch:
          run: |
            printf 'Password? '
            while [ ! -e answered ]; do sleep 0.05; done
            printf '\nloading   7%% of a long name'
            while [ ! -e loaded ]; do sleep 0.05; done
            printf '\rloading  42%% of it\033[K'
            while [ ! -e done ]; do sleep 0.05; done
            printf '\rloading 100%% of it\n'
      """#
    ])
  }

  @Test func aPromptAndABarAreSeenBeforeTheirLinesEnd() throws {
    let window = try place.window("run", "redraw.yml", "--keep-open", "always")
    try window.sees("the prompt") { $0.lines.contains { $0.hasSuffix(" Password?") } }
    try place.write("", to: "answered")
    try window.sees("the first drawing") { $0.lines.contains { $0.hasSuffix("loading   7% of a long name") } }
    try window.sees("the bar") { $0.row("fetch")?.text.contains("7%") == true }
    try place.write("", to: "loaded")
    try window.sees("the second drawing") { $0.lines.contains { $0.hasSuffix("loading  42% of it") } }
    try window.sees("no first drawing") { !$0.text.contains("loading   7%") }
    try window.sees("the bar") { $0.row("fetch")?.text.contains("42%") == true }
    try place.write("", to: "done")
    try window.sees("the last drawing") { $0.lines.contains { $0.hasSuffix("loading 100% of it") } }
  }

  @Test func inlineShowsThePromptAndPlainLinesAreWhole() throws {
    let window = try place.window("run", "redraw.yml", "--ui", "inline")
    try window.sees("the prompt") { $0.lines.contains { $0.contains("fetch  Password?") } }
    for name in ["answered", "loaded", "done"] { try place.write("", to: name) }
    #expect(try window.exitStatus() == 0)
    let text = try window.screen().text
    #expect(text.contains("| loading 100% of it"))
    #expect(text.contains("| Password?"))
    #expect(!text.contains("| loading   7%"))
  }
}
