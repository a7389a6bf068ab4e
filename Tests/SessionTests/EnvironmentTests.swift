import Foundation
import Screen
import Support
import Testing

@testable import Session

@Suite struct EnvironmentTests {
  private static let terminal = ["TERM": "xterm-256color"]

  private func environment(_ variables: [String: String], input: Bool = true, output: Bool = true) -> Environment {
    Environment(
      variables: variables, inputIsTerminal: input, outputIsTerminal: output, errorIsTerminal: output,
      currentDirectory: "/home/me")
  }

  @Test(arguments: [
    (Self.terminal, true, true, Settings.Interface.dashboard), (Self.terminal, false, true, .plain),
    (Self.terminal, true, false, .plain), (["TERM": "dumb"], true, true, .plain), (["TERM": ""], true, true, .plain),
    ([:], true, true, .plain), (["TERM": "xterm", "CI": "true"], true, true, .plain),
    (["TERM": "xterm", "CI": "1"], true, true, .plain), (["TERM": "xterm", "CI": ""], true, true, .dashboard),
    (["TERM": "xterm", "ACCESSIBLE": "1"], true, true, .plain),
    (["TERM": "xterm", "ACCESSIBLE": "0"], true, true, .dashboard),
    (["TERM": "xterm", "ACCESSIBLE": ""], true, true, .dashboard),
  ])
  func autoChoosesTheDashboardOnlyOnAWatchedTerminal(
    _ variables: [String: String], _ input: Bool, _ output: Bool, _ interface: Settings.Interface
  ) throws {
    #expect(try environment(variables, input: input, output: output).interface(for: nil) == interface)
  }

  /// As in `find | opdash each`: the keys are those of the terminal on standard output.
  @Test func keysComeFromTheTerminalWhereStandardInputHasData() throws {
    #expect(environment(Self.terminal).keyboard == 0)
    var piped = environment(Self.terminal, input: false)
    #expect(piped.keyboard == nil)
    #expect(throws: UsageError.self) { try piped.interface(for: .dashboard) }
    piped.terminal = 7
    #expect(piped.keyboard == 7)
    #expect(try piped.interface(for: nil) == .dashboard && piped.interface(for: .dashboard) == .dashboard)
    #expect(ViewOptions(source: "a", settings: Settings(), piped).keyboard == 7)
    piped.outputIsTerminal = false
    #expect(try piped.interface(for: nil) == .plain)
  }

  @Test func progressIsShownBesideAnOutputThatIsNoTerminal() {
    func shows(_ variables: [String: String], output: Bool, errors: Bool, _ wish: Settings.Interface? = nil) -> Bool {
      var environment = environment(variables, output: output)
      environment.errorIsTerminal = errors
      return environment.showsProgress(for: wish)
    }
    #expect(shows(Self.terminal, output: false, errors: true))
    #expect(!shows(Self.terminal, output: true, errors: true) && !shows(Self.terminal, output: false, errors: false))
    #expect(!shows(Self.terminal, output: false, errors: true, .plain))
    for variables in [["TERM": "dumb"], ["TERM": "xterm", "CI": "1"], ["TERM": "xterm", "ACCESSIBLE": "1"]] {
      #expect(!shows(variables, output: false, errors: true))
    }
  }

  @Test func anExplicitInterfaceIsTaken() throws {
    let ci = environment(["TERM": "xterm", "CI": "true"])
    #expect(try ci.interface(for: .dashboard) == .dashboard)
    #expect(try ci.interface(for: .plain) == .plain)
    #expect(try ci.interface(for: .json) == .json)
    #expect(try ci.interface(for: .quiet) == .quiet)
  }

  @Test(arguments: [
    (Self.terminal, false, true, Settings.Interface.inline), (Self.terminal, true, false, .plain),
    (["TERM": "dumb"], true, true, .plain), ([:], true, true, .plain),
    (["TERM": "xterm", "CI": "1"], true, true, .inline),
    (["TERM": "xterm", "ACCESSIBLE": "yes"], true, true, .plain),
  ])
  func inlineNeedsACapableTerminalAndNoScreenReader(
    _ variables: [String: String], _ input: Bool, _ output: Bool, _ interface: Settings.Interface
  ) throws {
    #expect(try environment(variables, input: input, output: output).interface(for: .inline) == interface)
  }

  @Test func anExplicitDashboardIsDrawnDespiteAScreenReader() throws {
    #expect(try environment(["TERM": "xterm", "ACCESSIBLE": "1"]).interface(for: .dashboard) == .dashboard)
  }

  @Test(
    arguments: [
      ([:], nil, ScreenTraits.Background.unknown), (["COLORFGBG": "15;0"], nil, .dark),
      (["COLORFGBG": "0;15"], nil, .light),
      (["COLORFGBG": "12;default;8"], nil, .dark), (["COLORFGBG": "0;7"], nil, .light),
      (["COLORFGBG": "0;default"], nil, .unknown), (["COLORFGBG": "x"], nil, .unknown),
      (["COLORFGBG": "0;99"], nil, .unknown),
      (["COLORFGBG": "15;0"], .light, .light), (["COLORFGBG": "15;0"], .unknown, .dark), ([:], .dark, .dark),
    ] as [([String: String], ScreenTraits.Background?, ScreenTraits.Background)])
  func aSetBackgroundBeatsTheVariable(
    _ variables: [String: String], _ wish: ScreenTraits.Background?, _ background: ScreenTraits.Background
  ) {
    var settings = Settings()
    settings.background = wish
    #expect(environment(variables).traits(settings).background == background)
  }

  @Test func linesAreGroupedForGitHubUnlessSaidOtherwise() {
    #expect(environment([:]).grouping(for: nil) == .lines)
    #expect(environment(["GITHUB_ACTIONS": "true"]).grouping(for: nil) == .github)
    #expect(environment(["GITHUB_ACTIONS": "true"]).grouping(for: .lines) == .lines)
    #expect(environment([:]).grouping(for: .grouped) == .grouped)
  }

  @Test(
    arguments: [
      (["TERM": "xterm-256color"], nil, true), (["TERM": "xterm-256color"], .unknown, true),
      (["TERM": "xterm-256color"], .light, false), (["TERM": "xterm"], nil, true),
      (["TERM": "xterm-256color", "NO_COLOR": "1"], nil, false),
    ] as [([String: String], ScreenTraits.Background?, Bool)])
  func theTerminalIsAskedOnlyIfTheAnswerChangesColours(
    _ variables: [String: String], _ wish: ScreenTraits.Background?, _ asks: Bool
  ) {
    var settings = Settings()
    settings.background = wish
    #expect(environment(variables).asksBackground(settings) == asks)
  }

  @Test(arguments: [
    (["XDG_CONFIG_HOME": "/x", "HOME": "/h"], "/x/opdash/config.yaml"),
    (["XDG_CONFIG_HOME": "rel", "HOME": "/h"], "/h/.config/opdash/config.yaml"),
    (["HOME": "/h"], "/h/.config/opdash/config.yaml"), ([:], nil),
  ])
  func settingsAreWhereTheEnvironmentSays(_ variables: [String: String], _ file: String?) {
    #expect(environment(variables).settingsFile == file)
  }

  @Test func theDashboardCannotBeForcedWhereItCannotBeDrawn() {
    #expect(throws: UsageError.self) { try environment(Self.terminal, output: false).interface(for: .dashboard) }
    #expect(throws: UsageError.self) { try environment(["TERM": "dumb"]).interface(for: .dashboard) }
  }

  @Test(arguments: [
    (["TERM": "xterm"], Settings.Color.auto, true, true), (["TERM": "xterm"], .auto, false, false),
    (["TERM": "dumb"], .auto, true, false), (["TERM": "xterm", "NO_COLOR": "1"], .auto, true, false),
    (["TERM": "xterm", "NO_COLOR": ""], .auto, true, true), (["CLICOLOR_FORCE": "1"], .auto, false, true),
    (["CLICOLOR_FORCE": "0"], .auto, false, false), (["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], .auto, true, false),
    (["NO_COLOR": "1"], .always, false, true), (["CLICOLOR_FORCE": "1"], .never, true, false),
  ])
  func noColorBeatsForceBeatsAuto(
    _ variables: [String: String], _ wish: Settings.Color, _ isTerminal: Bool, _ isColored: Bool
  ) {
    #expect(environment(variables).isColored(wish, onTerminal: isTerminal) == isColored)
  }

  @Test(arguments: [
    (["LANG": "en_US.UTF-8"], true), (["LANG": "C.utf8"], true), (["LANG": "C"], false), ([:], false),
    (["LANG": "en_US.UTF-8", "LC_ALL": "C"], false), (["LANG": "C", "LC_CTYPE": "de_DE.UTF-8"], true),
    (["LC_ALL": "", "LC_CTYPE": "", "LANG": "C.UTF-8"], true), (["LC_CTYPE": "POSIX", "LANG": "C.UTF-8"], false),
  ])
  func theFirstLocaleVariableThatIsSetDecides(_ variables: [String: String], _ isUTF8: Bool) {
    #expect(environment(variables).isUTF8 == isUTF8)
  }

  @Test(arguments: [
    (["TERM": "xterm-256color"], ScreenTraits.Palette.many), (["TERM": "xterm-kitty"], .many),
    (["TERM": "linux"], .eight),
    (["TERM": "xterm", "COLORTERM": "truecolor"], .many), (["TERM": "vt100"], .none), (["TERM": "xterm"], .eight),
    (["TERM": "xterm-16color"], .sixteen), (["TERM": "xterm-256color", "NO_COLOR": "1"], .none),
    (["TERM": "xterm-mono"], .none),
  ])
  func thePaletteFollowsTheTerminal(_ variables: [String: String], _ palette: ScreenTraits.Palette) {
    #expect(environment(variables).traits(Settings()).palette == palette)
  }

  @Test func asciiIsDrawnOnRequestAndWhereTheLocaleIsNotUTF8() {
    var settings = Settings()
    #expect(environment(["LANG": "C"]).traits(settings).isASCII)
    #expect(!environment(["LANG": "C.UTF-8"]).traits(settings).isASCII)
    settings.isASCII = true
    #expect(environment(["LANG": "C.UTF-8"]).traits(settings).isASCII)
  }

  @Test(arguments: [
    (["XDG_STATE_HOME": "/x", "HOME": "/h"], nil, "/x/opdash"),
    (["XDG_STATE_HOME": "rel", "HOME": "/h"], nil, "/h/.local/state/opdash"),
    (["HOME": "/h"], nil, "/h/.local/state/opdash"), (["HOME": "/h"], "mine", "/home/me/mine"), ([:], "/abs", "/abs"),
    ([:], nil, nil),
  ])
  func runsAreRecordedWhereTheOptionOrTheEnvironmentSays(
    _ variables: [String: String], _ option: String?, _ folder: String?
  ) {
    var settings = Settings()
    settings.state = option
    #expect(environment(variables).stateFolder(settings) == folder)
  }

  @Test func aFolderMayBeginWithACombiningMark() {
    #expect(environment([:]).absolute("/\u{301}a") == "/\u{301}a")
    #expect(environment(["XDG_STATE_HOME": "/\u{301}x", "HOME": "/h"]).stateFolder(Settings()) == "/\u{301}x/opdash")
  }

  /// With `sudo -E`, the folders are those of the user who has called it.
  @Test(.enabled(if: geteuid() == 0)) func rootMakesNothingInTheFoldersOfAnotherUser() throws {
    let folder = try TemporaryFolder()
    func path(_ name: String) -> String { "\(folder.url.path())/\(name)" }
    for name in ["home", "run", "own"] { #expect(mkdir(path(name), 0o700) == 0) }
    for name in ["home", "run"] { #expect(chown(path(name), 12_345, 12_345) == 0) }
    let sudo = environment(["HOME": path("home"), "XDG_RUNTIME_DIR": path("run")])
    let own = try #require(sudo.stateFolder(Settings()))
    #expect(own.hasSuffix("/.local/state/opdash") && !own.hasPrefix(path("home")))
    #expect(sudo.runtimeFolder == nil)
    #expect(sudo.stateNote(Settings())?.contains("the run is recorded in \(own)") == true)
    var settings = Settings()
    settings.state = path("home")
    #expect(sudo.stateFolder(settings) == path("home") && sudo.stateNote(settings) == nil)
    let root = environment(["HOME": path("own"), "XDG_RUNTIME_DIR": path("own")])
    #expect(root.stateFolder(Settings()) == path("own") + "/.local/state/opdash" && root.runtimeFolder == path("own"))
    #expect(root.stateNote(Settings()) == nil)
  }
}
