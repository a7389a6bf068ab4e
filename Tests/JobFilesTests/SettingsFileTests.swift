import JobFiles
import JobModel
import Screen
import Support
import Testing

/// What a settings file may say, and each message for what it may not.
@Suite struct SettingsFileTests {
  static let vocabulary: SettingsFile.Vocabulary = (
    actions: [
      (name: "cancel", keys: [.character("x"), .function(9)], isNeeded: false),
      (name: "kill", keys: [.character("X")], isNeeded: false),
      (name: "more-slots", keys: [.character("+")], isNeeded: false),
      (name: "log", keys: [.character("l")], isNeeded: false),
      (name: "quit", keys: [.character("q"), .function(10)], isNeeded: true),
      (name: "help", keys: [.character("?")], isNeeded: true),
    ],
    elements: ["failed", "executing", "cursor"]
  )

  private func settings(_ text: String) throws -> SettingsFile {
    try SettingsFile.decode(Array(text.utf8), file: "config.yaml", Self.vocabulary)
  }

  private func faults(_ text: String) -> [String] {
    do throws(JobFileFaults) {
      _ = try SettingsFile.decode(Array(text.utf8), file: "config.yaml", Self.vocabulary)
      return []
    } catch {
      return error.faults.map { "\($0.line):\($0.column): \($0.message)" }
    }
  }

  @Test func everythingThatCanBeSet() throws {
    let settings = try settings(
      """
      # mine
      keys:
        cancel: d
        kill: [D, ^K, F2]
        more-slots: "+"
        log: []
        help: ["?", h]
      colors:
        failed: bright-red bold
        executing: "#00afff on 0 italic underline"
        cursor: reverse
      background: light
      notify: bell
      mouse: false
      ascii: true
      history: { days: 7, megabytes: 50 }
      x-notes: whatever
      """)
    #expect(
      settings.keys == [
        "cancel": [.character("d")], "kill": [.character("D"), .control("k"), .function(2)],
        "more-slots": [.character("+")], "log": [], "help": [.character("?"), .character("h")],
      ])
    #expect(
      settings.colors == [
        "failed": Style(.indexed(9), .bold), "executing": Style(.indexed(39), on: .indexed(0), [.italic, .underline]),
        "cursor": Style(.standard, .reverse),
      ])
    #expect(settings.background == .light)
    #expect(settings.notify == .bell)
    #expect(settings.usesMouse == false)
    #expect(settings.isASCII == true)
    #expect(settings.retention == Retention(age: .seconds(7 * 86_400), bytes: 50_000_000))
  }

  @Test(arguments: [
    ("history: { days: 0 }", "history.days takes a whole number, 1 to 36500; this is '0'"),
    ("history: { days: 36501 }", "history.days takes a whole number, 1 to 36500; this is '36501'"),
    (
      "history: { megabytes: 100000001 }", "history.megabytes takes a whole number, 1 to 100000000; this is '100000001'"
    ),
    ("history: { megabytes: 0 }", "history.megabytes takes a whole number, 1 to 100000000; this is '0'"),
    ("history: { runs: some }", "history.runs takes a whole number, 1 to 1000000; this is 'some'"),
    (
      "history: { age: 3 }",
      "unknown key 'age': history can have days, runs or megabytes, or x-… for what opdash ignores"
    ),
    ("history: 30", "history is a map; this is '30': write 'history: { days: 30 }' or the like"),
  ])
  func aFaultOfTheHistorySaysWhatItTakes(_ text: String, _ message: String) {
    #expect(faults(text).map { $0.replacing(#/^\d+:\d+: /#, with: "") } == [message])
  }

  @Test(arguments: ["", "# nothing\n", "---\n", "{}", "keys:\ncolors:\n"])
  func anEmptyFileChangesNothing(_ text: String) throws {
    #expect(try settings(text) == SettingsFile())
  }

  @Test func theHistoryIsKeptUpToItsBounds() throws {
    #expect(try settings("history: { runs: 7 }").retention == Retention(runs: 7))
    #expect(try settings("history: {}").retention == Retention())
    #expect(
      try settings("history: { days: 36500, runs: 1000000, megabytes: 100000000 }").retention
        == Retention(age: .seconds(36_500 * 86_400), runs: 1_000_000, bytes: 100_000_000_000_000))
    #expect(
      try settings("history: { days: 1, runs: 1, megabytes: 1 }").retention
        == Retention(age: .seconds(86_400), runs: 1, bytes: 1_000_000))
  }

  @Test func autoIsWhatTheTerminalSays() throws {
    #expect(try settings("background: auto").background == .unknown)
  }

  @Test func notesOfAPersonAreIgnored() throws {
    #expect(try settings("keys: { x-a: b }\ncolors: { x-a: b }\nx-a: b") == SettingsFile())
  }

  @Test func wordsOfAStyleStandInAnyOrderAndCase() throws {
    #expect(
      try settings("colors: { failed: 'BOLD  ON 0 bright-red' }").colors == [
        "failed": Style(.indexed(9), on: .indexed(0), .bold)
      ])
    #expect(try settings("colors: { failed: on 0 }").colors["failed"]?.background == .indexed(0))
  }

  @Test func noneIsAnEmptyList() throws {
    #expect(try settings("keys: { kill: none, log: [] }").keys == ["kill": [], "log": []])
  }

  @Test func aKeyMayGoFromOneActionToAnother() throws {
    #expect(faults("keys: { kill: x, log: L }").isEmpty)
    #expect(faults("keys: { cancel: X, kill: x }").isEmpty)
    #expect(faults("keys: { kill: [x, F9], cancel: [] }").isEmpty)
  }

  @Test(arguments: [
    ("keyz: {}", ["1:1: unknown key 'keyz': did you mean 'keys'?"]),
    (
      "sound: on",
      [
        "1:1: unknown key 'sound': a settings file can have keys, colors, background, notify, mouse, ascii or history, or x-… for what opdash ignores"
      ]
    ),
    (
      "[1]",
      ["1:1: a settings file is a map; this is a list: write 'keys: { cancel: d }' or the like"]
    ),
    ("keys: 3", ["1:7: keys takes a map of actions to keys, as in 'keys: { cancel: [d, F9] }'; this is '3'"]),
    ("keys: { cancle: d }", ["1:9: unknown action 'cancle': did you mean 'cancel'?"]),
    ("keys: { frobnicate: d }", ["1:9: unknown action 'frobnicate': opdash keys lists them"]),
    ("keys: { cancel: { a: b } }", ["1:17: keys.cancel takes a key or a list of keys; this is a map"]),
    ("keys: { cancel: [[d]] }", ["1:18: keys.cancel takes a key or a list of keys; this is a list"]),
    (
      "keys: { cancel: [~] }",
      ["1:18: keys.cancel takes a key or a list of keys; this is empty: put '#' or '~' in quotes"]
    ),
    ("keys: { cancel: F13 }", ["1:17: 'F13' is not a key: did you mean 'F1'?"]),
    ("keys: { cancel: dd }", ["1:17: 'dd' is not a key: write x, X, ^U, F9, Space, Enter, PgUp or the like"]),
    ("keys: { cancel: Entr }", ["1:17: 'Entr' is not a key: did you mean 'Enter'?"]),
    (
      "keys: { cancel: ^C }",
      ["1:17: '^C' never arrives, because the terminal makes a signal of it: choose another key"]
    ),
    (
      "keys:\n  cancel: d\n  kill: [D, d]",
      ["3:13: key 'd' is given to cancel at line 2, column 11 already: delete one of them"]
    ),
    ("keys: { cancel: [d, d] }", ["1:21: key 'd' is given at line 1, column 18 already: delete one of them"]),
    (
      "keys: { cancel: Tab, kill: ^I }",
      ["1:28: key 'Tab' is given to cancel at line 1, column 17 already: delete one of them"]
    ),
    (
      "keys: { cancel: d, cancel: e }",
      ["1:20: duplicate key 'cancel', given at line 1, column 9 already: delete one of them"]
    ),
    ("keys: { cancel: l }", ["1:17: 'l' is the last key of log: give log another, or write 'log: []'"]),
    ("keys: { cancel: [q, F10] }", ["1:21: 'F10' is the last key of quit: give quit another"]),
    ("keys: { quit: [] }", ["1:9: quit must have a key, because there is no other way to it: give it one"]),
    ("keys: { help: none }", ["1:9: help must have a key, because there is no other way to it: give it one"]),
    (
      "keys:\n  kill: #\n",
      ["2:8: keys.kill takes a key or a list of keys; this is empty: write [] for none, and '#' or '~' in quotes"]
    ),
    (
      "keys:\n  kill: !\n",
      ["2:9: keys.kill takes a key or a list of keys; this is empty: put '!', '|' or '>' in quotes"]
    ),
    (
      "keys:\n  fewer-slots: -\n",
      [
        "2:16: a list item ('- ') is not expected here: begin the list on a line of its own, or put the text in quotes"
      ]
    ),
    ("colors: { faild: red }", ["1:11: unknown element 'faild': did you mean 'failed'?"]),
    ("colors: { sky: red }", ["1:11: unknown element 'sky': colors can have failed, executing or cursor"]),
    (
      "colors: { failed: '' }",
      [
        "1:19: colors.failed is empty: it takes a colour with words such as bold, as in 'bright-red bold'"
      ]
    ),
    (
      "colors: { failed: [red] }",
      [
        "1:19: colors.failed takes a colour with words such as bold, as in 'bright-red bold'; this is a list"
      ]
    ),
    ("colors: { failed: redd }", ["1:19: colors.failed: 'redd' is not a colour: did you mean 'red'?"]),
    (
      "colors: { failed: 256 }",
      [
        "1:19: colors.failed: '256' is not a colour: write a name, 0 to 255 or '#rrggbb', and bold, dim, underline, reverse or italic"
      ]
    ),
    ("colors: { failed: red blue }", ["1:19: colors.failed has two colours: delete one, or put 'on' between them"]),
    (
      "colors: { failed: red on }",
      ["1:19: colors.failed: a colour is missing after 'on': write one, as in 'white on blue'"]
    ),
    (
      "colors:\n  failed: #ff0000\n",
      [
        "2:10: colors.failed takes a colour with words such as bold, as in 'bright-red bold'; this is empty: put '#rrggbb' in quotes"
      ]
    ),
    ("background: drak", ["1:13: background takes auto, dark or light; this is 'drak': did you mean 'dark'?"]),
    ("notify: ring", ["1:9: notify takes none, bell or message; this is 'ring'"]),
    ("mouse: maybe", ["1:8: mouse takes true or false; this is 'maybe'"]),
    ("ascii: 'true'", ["1:8: ascii takes true or false; this is the text 'true': write true without quotes"]),
    ("a: 1\n---\nb: 2", ["2:1: a second document begins here: a settings file holds one, so move it to its own file"]),
  ])
  func aFaultHasItsPlaceAndAdvice(_ text: String, _ expected: [String]) {
    #expect(faults(text).filter { !$0.hasPrefix("1:1: unknown key 'a'") } == expected)
  }

  @Test func allFaultsAreReportedInTheOrderOfPlaces() {
    #expect(
      faults("keys:\n  cancle: d\n  kill: dd\ncolors: { failed: redd }\nmouse: 3\n").map { $0.prefix(4) } == [
        "2:3:", "3:9:", "4:19", "5:8:",
      ])
  }

  @Test func aMissingFileIsNoFaultAndAFolderIsOne() throws {
    let folder = try TemporaryFolder()
    #expect(try SettingsFile.load(path: folder.file("none/config.yaml").path, Self.vocabulary) == nil)
    #expect(throws: JobFileFaults.self) { try SettingsFile.load(path: folder.url.path, Self.vocabulary) }
  }
}
