import JobModel
import Screen
import Testing

@testable import Dashboard

@Suite struct ThemeTests {
  private static let many = ScreenTraits(isASCII: true, palette: .many, background: .dark)
  private static let sixteen = ScreenTraits(isASCII: false, palette: .sixteen)

  /// On a dark terminal of 256 colours; the words of states that are quiet are as secondary text.
  @Test(
    arguments: [
      (.failed, 204, true, true), (.timedOut, 204, true, true), (.executing, 80, true, true),
      (.serving, 80, false, nil),
      (.stopping, 215, true, true), (.paused, 215, false, nil), (.backingOff, 140, false, nil),
      (.ready, nil, false, nil), (.waiting, 247, false, false), (.allowedFailure, 204, false, nil),
      (.cancelled, 215, false, false), (.skipped, 247, false, false), (.succeeded, 157, false, nil),
      (.upToDate, 157, false, nil),
    ] as [(StateClass, UInt8?, Bool, Bool?)])
  func aStateHasItsStyle(_ state: StateClass, _ color: UInt8?, _ isBold: Bool, _ name: Bool?) {
    let theme = Theme(Self.many)
    let style = Style(color.map { .indexed($0) } ?? .standard, isBold ? .bold : [])
    #expect(theme.style(state) == style)
    let isQuiet = [.ready, .waiting, .skipped, .cancelled, .upToDate].contains(state)
    #expect(theme.wordStyle(state) == (isQuiet ? theme.dim : Style(style.foreground)))
    #expect(theme.nameStyle(state) == (name.map { $0 ? Style(attributes: .bold) : theme.dim } ?? .plain))
  }

  @Test func aCancelledJobIsDimWhereTheTerminalsColoursAre() {
    #expect(Theme(Self.sixteen).style(.cancelled) == Style(.indexed(5), .dim))
  }

  @Test func rolesHaveTheirStyles() {
    let theme = Theme(Self.many)
    let badges = [theme.danger, theme.warning, theme.calm, theme.good]
    #expect(badges == [204, 215, 80, 157].map { Style(.indexed($0), [.bold, .reverse]) })
    #expect(
      theme.accent == Style(.indexed(75)) && theme.rule == Style(.indexed(240)) && theme.dim == Style(.indexed(247)))
    #expect(theme.held == theme.style(.paused) && theme.bad == theme.style(.failed))
    #expect(theme.match == Style(attributes: .reverse))
    #expect(theme.currentMatch == Style(.indexed(215), [.reverse, .bold]))
    #expect(theme.cursor(focused: true) == Style(.indexed(255), on: .indexed(238)))
    #expect(theme.cursor(focused: false) == Style(attributes: [.bold, .underline]))
    #expect(theme.chip("q") == TextSpan(" q ", Style(.indexed(255), on: .indexed(238), .bold)))
  }

  @Test func aPersonsQuietIsThatOfTheRulesToo() {
    let own = Style(.indexed(99))
    #expect(Theme(Self.many, looks: [.quiet: own]).rule == own)
    #expect(Theme(Self.many, looks: [.accent: own]).rule == Style(.indexed(240)))
  }

  @Test func signsAreASCIIWhereTheyMustBe() {
    let (ascii, unicode) = (Theme(Self.many), Theme(Self.sixteen))
    func signs(_ theme: Theme) -> [String] {
      [theme.critical, theme.stderrMark, theme.noteMark, theme.horizontal, theme.vertical, theme.elision.mark]
    }
    #expect(signs(ascii) == ["*", "|", "*", "-", "|", ".."])
    #expect(signs(unicode) == ["◆", "▎", "»", "─", "│", "…"])
    #expect(ascii.names([.up, .character("k")]) == "Up k" && unicode.names([.up, .character("k")]) == "↑ k")
  }

  // MARK: The cursor's row

  private func highlighted(
    _ text: String, _ traits: ScreenTraits, looks: [ThemeElement: Style] = [:], focused: Bool
  ) -> Frame {
    var frame = Frame(Size(width: 4, height: 2))
    frame.put(text, x: 0, y: 0, style: Style(.indexed(3)))
    frame.put("x", x: 2, y: 0, style: Style(.indexed(3), on: .indexed(4)))
    let row = Rect(x: 0, y: 0, width: 3, height: 1)
    Theme(traits, looks: looks).highlight(row, focused: focused, &frame)
    return frame
  }

  @Test(arguments: [(true, 75), (false, 240)] as [(Bool, UInt8)])
  func itsBackgroundKeepsWhatIsDrawnOnItAndAMarkBegins(_ isFocused: Bool, _ color: UInt8) {
    let frame = highlighted(" a", Self.many, focused: isFocused)
    #expect(frame[0, 0] == Cell(">", Style(.indexed(color), on: .indexed(236))))
    #expect(frame[1, 0] == Cell("a", Style(.indexed(3), on: .indexed(236))))
    #expect(frame[2, 0] == Cell("x", Style(.indexed(3), on: .indexed(4))))
    #expect(frame[3, 0] == .blank && frame[0, 1] == .blank)
    // A tag's mark stays.
    #expect(highlighted("*a", Self.many, focused: isFocused)[0, 0].text == "*")
  }

  @Test func withoutABackgroundItIsReversedOrUnderlined() {
    let focused = highlighted(" a", Self.sixteen, focused: true)
    #expect(focused[1, 0] == Cell("a", Style(.indexed(3), .reverse)) && focused[0, 0].text == " ")
    let resting = highlighted(" a", Self.sixteen, focused: false)
    #expect(resting[1, 0] == Cell("a", Style(.indexed(3), [.bold, .underline])) && resting[3, 0] == .blank)
  }

  @Test func aPersonsCursorIsTheStyleOfTheRow() {
    let own = Style(.indexed(99), on: .indexed(98))
    let focused = highlighted(" a", Self.many, looks: [.cursor: own], focused: true)
    #expect((0..<3).allSatisfy { focused[$0, 0].style == own } && focused[0, 0].text == " ")
    let resting = highlighted(" a", Self.many, looks: [.cursor: own], focused: false)
    #expect(resting[1, 0].style == Style(.indexed(3), on: .indexed(236)))
    let plain = ScreenTraits(isASCII: true, palette: .none)
    #expect(highlighted(" a", plain, looks: [.cursor: own], focused: true)[1, 0].style.attributes == .reverse)
  }
}
