import Foundation
import NcursesTerminal
import Screen
import Testing

@Suite struct ClickCounterTests {
  @Test func twoQuickPressesAtOnePlaceAreADoubleClick() {
    var clicks = ClickCounter()
    #expect(clicks.press(x: 1, y: 2, at: .zero) == MouseEvent(.click, x: 1, y: 2))
    #expect(clicks.press(x: 1, y: 2, at: .milliseconds(200)) == MouseEvent(.doubleClick, x: 1, y: 2))
    #expect(clicks.press(x: 1, y: 2, at: .milliseconds(300)) == MouseEvent(.click, x: 1, y: 2))
  }

  @Test func slowOrDistantPressesAreTwoClicks() {
    var clicks = ClickCounter()
    #expect(clicks.press(x: 1, y: 2, at: .zero).action == .click)
    #expect(clicks.press(x: 1, y: 2, at: .milliseconds(500)).action == .click)
    #expect(clicks.press(x: 1, y: 3, at: .milliseconds(600)).action == .click)
    #expect(clicks.press(x: 2, y: 3, at: .milliseconds(600)).action == .click)
  }

  @Test(arguments: [(399, MouseEvent.Action.doubleClick), (400, .click)])
  func aDoubleClickTakesLessThanFourTenthsOfASecond(milliseconds: Int, action: MouseEvent.Action) {
    var clicks = ClickCounter()
    #expect(clicks.press(x: 1, y: 2, at: .seconds(5)).action == .click)
    #expect(clicks.press(x: 1, y: 2, at: .seconds(5) + .milliseconds(milliseconds)).action == action)
  }
}

@Suite struct ColorPairsTests {
  @Test func aPairIsDefinedOnce() {
    var pairs = ColorPairs(capacity: 8)
    var defined: [Int] = []
    let red = ColorPairs.Pair(Style(.indexed(1)))
    let blue = ColorPairs.Pair(Style(.indexed(4)))
    let numbers = [red, blue, red].map { pairs.number($0) { number, _ in defined.append(number) } }
    #expect(numbers == [1, 2, 1])
    #expect(defined == [1, 2])
  }

  @Test func theTerminalsOwnColoursAreZero() {
    var pairs = ColorPairs(capacity: 8)
    #expect(pairs.number(ColorPairs.Pair(.plain)) { _, _ in Issue.record("defined") } == 0)
  }

  @Test func visiblePairsKeepTheirNumbers() {
    var pairs = ColorPairs(capacity: 4)
    let all = (1...4).map { ColorPairs.Pair(Style(.indexed(UInt8($0)))) }
    let first = all.map { pairs.number($0) { _, _ in } }
    #expect(first == [1, 2, 3, 0])
    #expect(pairs.isFull)
    pairs.keep([all[0], all[2]])
    #expect(!pairs.isFull)
    #expect(pairs.number(all[0]) { _, _ in Issue.record("defined again") } == 1)
    #expect(pairs.number(all[3]) { _, _ in } == 2)
    #expect(pairs.isFull)
  }

  @Test func aTerminalWithoutPairsHasOnlyZero() {
    var pairs = ColorPairs(capacity: 0)
    #expect(pairs.number(ColorPairs.Pair(Style(.indexed(1)))) { _, _ in Issue.record("defined") } == 0)
  }
}

@Suite struct TerminalFeaturesTests {
  @Test(arguments: [
    ("xterm-256color", true), ("tmux-256color", true), ("screen.xterm-256color", true), ("xterm-kitty", true),
    ("alacritty", true), ("foot", true), ("linux", false), ("linux-16color", false), ("vt100", false), ("vt220", false),
    ("dumb", false), ("", false), ("ansi", false),
  ])
  func titlesAndMouseAreSentToXtermsOnly(_ term: String, _ expected: Bool) {
    #expect(TerminalFeatures(term: term, environment: [:]).speaksXterm == expected)
  }

  @Test(arguments: [
    ([:], false), (["WT_SESSION": "x"], true), (["ConEmuANSI": "ON"], true), (["TERM_PROGRAM": "ghostty"], true),
    (["TERM_PROGRAM": "WezTerm"], true), (["TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.5.9"], false),
    (["TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.6.6"], true), (["TERM_PROGRAM": "iTerm.app"], false),
    (["VTE_VERSION": "7802"], false), (["VTE_VERSION": "8000"], true), (["TMUX": "/tmp/x"], true),
    (["TERM_PROGRAM": "Apple_Terminal"], false),
  ])
  func theProgressMarkGoesOnlyWhereItIsKnown(_ environment: [String: String], _ expected: Bool) {
    #expect(TerminalFeatures(term: "xterm-256color", environment: environment).hasProgress == expected)
    #expect(!TerminalFeatures(term: "linux", environment: environment).hasProgress)
  }

  @Test func screenGetsItsWrapping() {
    #expect(TerminalFeatures(term: "screen-256color", environment: [:]).isScreen)
    #expect(!TerminalFeatures(term: "screen-256color", environment: ["TMUX": "x"]).isScreen)
    #expect(!TerminalFeatures(term: "xterm", environment: [:]).isScreen)
  }

  /// As after ssh, which passes on TERM alone.
  @Test func tmuxIsKnownByTERMToo() {
    #expect(TerminalFeatures(term: "tmux-256color", environment: [:]).isTmux)
    #expect(TerminalFeatures(term: "screen-256color", environment: [:]).mayBeTmux)
    #expect(!TerminalFeatures(term: "screen-256color", environment: ["STY": "1.tty"]).mayBeTmux)
    #expect(!TerminalFeatures(term: "screen-256color", environment: ["TMUX": "x"]).mayBeTmux)
    #expect(!TerminalFeatures(term: "xterm", environment: [:]).mayBeTmux)
  }
}

@Suite struct ControlSequencesTests {
  @Test func aTitleHoldsNothingThatEndsIt() {
    #expect(ControlSequences.title("a\u{1B}\\b\u{7}c\nd") == "\u{1B}]2;abcd\u{1B}\\")
    let longest = String(repeating: "x", count: 240)
    #expect(ControlSequences.title("\(longest)x") == "\u{1B}]2;\(longest)\u{1B}\\")
  }

  @Test(arguments: [
    (40, false, "\u{1B}]9;4;1;40\u{1B}\\"), (100, true, "\u{1B}]9;4;2;100\u{1B}\\"),
    (-3, false, "\u{1B}]9;4;1;0\u{1B}\\"),
    (900, false, "\u{1B}]9;4;1;100\u{1B}\\"),
  ])
  func progressIsAPercentage(_ percent: Int, _ failed: Bool, _ expected: String) {
    #expect(ControlSequences.progress(percent, failed: failed) == expected)
  }

  private func features(_ term: String, _ environment: [String: String] = [:]) -> TerminalFeatures {
    TerminalFeatures(term: term, environment: environment)
  }

  @Test func aNoticeIsABellOrAMessageInTheTerminalsWay() {
    let xterm = features("xterm-256color")
    #expect(ControlSequences.notice(.none, "x", xterm) == "")
    #expect(ControlSequences.notice(.bell, "x", xterm) == "\u{7}")
    #expect(ControlSequences.notice(.message, "a: done 3/3", xterm) == "\u{1B}]9;a: done 3/3\u{7}")
    #expect(ControlSequences.notice(.message, "x", features("linux")) == "\u{7}")
    #expect(
      ControlSequences.notice(.message, "x", features("screen-256color", ["TMUX": "/tmp/s"]))
        == "\u{1B}Ptmux;\u{1B}\u{1B}]9;x\u{7}\u{1B}\\")
    let wrapped = "\u{1B}P\u{1B}]9;x\u{7}\u{1B}\\"
    #expect(ControlSequences.notice(.message, "x", features("screen", ["STY": "1.tty"])) == wrapped)
    // tmux, which it may be, drops the message.
    #expect(ControlSequences.notice(.message, "x", features("screen")) == "\u{7}\(wrapped)")
  }

  @Test func aNoticeHoldsNothingThatEndsItOrMeansSomethingElse() {
    let xterm = features("xterm-256color")
    #expect(
      ControlSequences.notice(.message, "4;1;50\u{1B}]0;evil\u{7}\u{9C}\nb", xterm) == "\u{1B}]9;4,1,50b\u{7}")
    let longest = String(repeating: "x", count: 240)
    #expect(ControlSequences.notice(.message, "\(longest)x", xterm) == "\u{1B}]9;\(longest)\u{7}")
  }

  @Test func aCopyIsBase64() {
    #expect(
      ControlSequences.copy("hé\n", TerminalFeatures(term: "xterm", environment: [:])) == "\u{1B}]52;c;aMOpCg==\u{1B}\\"
    )
  }

  @Test func aCopyThroughScreenComesInPieces() {
    let sequence = ControlSequences.copy(
      "\(String(repeating: "x", count: 1200))", features("screen", ["STY": "1.tty"]))
    let pieces = sequence.components(separatedBy: "\u{1B}P").dropFirst()
    #expect(pieces.count == 3)
    #expect(pieces.allSatisfy { $0.hasSuffix("\u{1B}\\") && $0.utf8.count < 768 })
    let whole = pieces.map { $0.dropLast(2) }.joined()
    #expect(whole.hasPrefix("\u{1B}]52;c;eHh4"))
    #expect(whole.hasSuffix("\u{7}"))
  }

  @Test func aCopyInTmuxOrScreenIsWrittenInBothWays() {
    let text: TerminalText = "hé\n"
    let (xterm, screen) = (features("xterm"), features("screen", ["STY": "1.tty"]))
    #expect(
      ControlSequences.copy(text, features("screen-256color"))
        == ControlSequences.copy(text, xterm) + ControlSequences.copy(text, screen))
  }
}
