import Screen
import Testing

struct KeyNameTests {
  @Test(arguments: [
    ("x", Key.character("x")), ("X", .character("X")), ("/", .character("/")), ("é", .character("é")),
    ("^U", .control("u")), ("^u", .control("u")), ("C-u", .control("u")), ("Ctrl+U", .control("u")),
    ("C-Space", .control(" ")), ("^]", .control("]")), ("F9", .function(9)), ("f12", .function(12)),
    ("Space", .character(" ")), (" ", .character(" ")), ("Enter", .enter), ("Return", .enter), ("esc", .escape),
    ("Tab", .tab), ("S-Tab", .backTab), ("PgUp", .pageUp), ("PageDown", .pageDown), ("Up", .up), ("↑", .up),
    ("Del", .delete), ("^", .character("^")), ("^H", .backspace), ("^I", .tab), ("^M", .enter), ("^[", .escape),
  ])
  func aNameIsAKey(_ name: String, _ key: Key) {
    #expect(Key(named: name) == key)
  }

  @Test(arguments: ["", "xx", "F0", "F13", "F1x", "^ä", "C-", "C-F1", "Hyper", "\u{1B}", "\u{200B}", "M-x"])
  func anUnknownKeyNameGivesNil(_ name: String) {
    #expect(Key(named: name) == nil)
  }

  @Test func everyNameThatIsShownIsRead() {
    let keys: [Key] =
      [
        .up, .down, .left, .right, .pageUp, .pageDown, .home, .end, .enter, .escape, .tab, .backTab, .backspace,
        .delete,
      ]
      + (1...12).map { .function($0) } + "abgklnopqrstuvwxyz ]_".map { .control($0) } + "aZ9 ?:[".map { .character($0) }
    for key in keys {
      #expect(Key(named: key.name()) == key, "\(key)")
      #expect(Key(named: key.name(isASCII: false)) == key, "\(key)")
    }
    for name in Key.names { #expect(Key(named: name)?.name() == name) }
  }

  @Test func keysThatTheTerminalTurnsIntoSignalsAreKnown() {
    for name in ["^C", "^Z", "^\\"] { #expect(Key(named: name)?.isSignal == true) }
    #expect(Key(named: "^L")?.isSignal == false)
  }

  @Test(arguments: [
    ("red", Style.Color.indexed(1)), ("Bright-Blue", .indexed(12)), ("grey", .indexed(8)), ("default", .standard),
    ("208", .indexed(208)), ("#ff8700", .indexed(208)), ("#FFFFFF", .indexed(231)),
  ])
  func aColourHasANameANumberOrItsParts(_ text: String, _ color: Style.Color) {
    #expect(Style.Color(named: text) == color)
  }

  @Test(arguments: ["", "reddish", "256", "-1", "#ff", "#gg0000", "ff0000", "bright-", "bright-grey"])
  func anUnknownColourGivesNil(_ text: String) {
    #expect(Style.Color(named: text) == nil)
  }
}
