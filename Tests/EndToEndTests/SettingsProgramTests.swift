import Foundation
import Support
import Testing

/// A settings file, as a person has one: what it changes on the screen, and what its faults do.
@Suite struct SettingsProgramTests {
  private let place: Workplace

  init() throws {
    place = try Workplace(files: [
      "jobs.yml": """
      jobs:
        touch: { run: "touch started; while [ ! -e go ]; do sleep 0.02; done" }
        bad: { run: exit 3 }
        after: { needs: [touch], run: 'true' }
      """
    ])
  }

  private var file: String { place.folder.file("config/opdash/config.yaml").path }

  @Test func aFaultyFileIsToldAndNothingStarts() throws {
    try place.write(settings: "keys:\n  cancle: d\nnotify: ring\n")
    for command in [["run", "jobs.yml"], ["get", "http://127.0.0.1:9/x"], ["demo", "diamond"]] {
      let ended = try place.run(command[0], command[1])
      #expect(ended.ending() == .exited(2))
      #expect(
        ended.errorText == """
          \(file):2:3: unknown action 'cancle': did you mean 'cancel'?
              2 |   cancle: d
                |   ^~~~~~
          \(file):3:9: notify takes none, bell or message; this is 'ring'
              3 | notify: ring
                |         ^~~~

          """)
      #expect(ended.outputText.isEmpty)
    }
    #expect(!place.has("started"))
    // What starts nothing needs no settings.
    #expect(try place.run("check", "jobs.yml").ending() == .exited(0))
    let keys = try place.run("keys")
    #expect(keys.ending() == .exited(2))
    #expect(keys.errorText.contains("2:3: unknown action 'cancle'"))
  }

  @Test func keysPrintsTheMapInForce() throws {
    let usual = try place.run("keys")
    #expect(usual.ending() == .exited(0))
    #expect(usual.outputText.contains("\n  x F9       cancel            cancel\n"))
    #expect(usual.outputText.hasSuffix("\nAll as usual: there is no \(file).\n"))
    #expect(!usual.outputText.contains("\u{1B}"))

    try place.write(settings: "keys: { kill: [x, ^K], log: [] }\n")
    let changed = try place.run("keys").outputText
    #expect(changed.contains("\n* x ^K"))
    #expect(changed.contains("\n* F9"))
    #expect(changed.contains("\n* none"))
    #expect(changed.hasSuffix("\n* changed by \(file)\n"))
    #expect(try place.run("keys", "--color=always").outputText.contains("\u{1B}[1m"))
  }

  @Test func aKeyOfMyOwnWorksAndIsNamedOnTheScreen() throws {
    try place.write(settings: "keys: { cancel: [d, F9], quit: Q, pause: F2 }\n")
    let window = try place.window("run", "jobs.yml")
    try window.sees("touch", "▶")
    try window.choose("touch", of: 3)
    try window.sees("the keys in force") { screen in
      guard let last = screen.lines.last else { return false }
      return last.contains("d cancel") && last.contains("F2 pause") && last.contains("Q quit")
    }
    try window.press("x", "q", "d")
    try window.sees("touch", "⊘", "by you")
    try window.showAll()
    try window.sees("Ended after")
    try window.sees("Q quits")
    try window.press("Q")
    #expect(try window.exitStatus() == 1)
  }

  @Test func aColourOfMyOwnIsDrawn() throws {
    try place.write(settings: "colors: { failed: '#ff8700 underline' }\nmouse: false\nascii: true\n")
    let pty = try place.pty("run", "jobs.yml")
    #expect(pty.waitUntil { $0.text.contains("exit 3") && $0.text.contains("<=>") })
    #expect(pty.text.contains("38;5;208m"))
    #expect(!pty.text.contains("\u{1B}[?1000h"))
    pty.send("qq")
    #expect(pty.waitUntil { $0.ending != nil })
  }

  // MARK: What the terminal is like

  @Test func theColoursFollowTheTerminalsAnswer() throws {
    let pty = try place.pty("run", "jobs.yml")
    #expect(pty.waitUntil { $0.text.contains("\u{1B}]11;?\u{1B}\\\u{1B}[c") })
    #expect(pty.waitUntil { $0.text.contains("38;5;160m") && $0.text.contains("exit 3") })
    pty.send("\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\\u{1B}[?64;1c")
    #expect(pty.waitUntil { $0.text.contains("38;5;161m") })
    // The answer is not a key: nothing else has happened.
    #expect(!pty.text.contains("11;rgb"))
    pty.send("qq")
    #expect(pty.waitUntil { $0.ending != nil })
  }

  @Test(arguments: [["--background=dark"], ["--color=never"]])
  func whoSaysWhatItDrawsOnIsNotAsked(_ options: [String]) throws {
    let pty = try place.pty("run", "jobs.yml", options[0])
    #expect(pty.waitUntil { $0.text.contains("exit 3") })
    #expect(!pty.text.contains("]11;?"))
    #expect(pty.text.contains("38;5;204m") == (options == ["--background=dark"]))
    pty.send("qq")
    #expect(pty.waitUntil { $0.ending != nil })
  }

  @Test func aTerminalWithoutADescriptionGetsTheDashboardAllTheSame() throws {
    let pty = try place.pty("run", "jobs.yml", environment: ["TERM": "xterm-nonexistent"])
    #expect(pty.waitUntil { $0.text.contains("exit 3") })
    #expect(pty.text.contains("\u{1B}[?1049h"))
    pty.send("qq")
    #expect(pty.waitUntil { $0.ending != nil })
    #expect(pty.text.contains("\u{1B}[?1049l"))
  }

  // MARK: The end

  @Test func aMessageGoesThroughTmuxWhereThatIsAllowed() throws {
    try place.write("", to: "go")
    // The client's terminal is ours, so that what reaches it can be seen.
    let pty = try Pty(
      [
        "sh", "-c",
        """
        cd "$0" && exec tmux -u -S "$0/tmux" -f /dev/null new-session \
          'tmux -S tmux set -g allow-passthrough on; '"$1"' run jobs.yml --notify=message --keep-open=never; read x'
        """, place.folder.url.path, Built.product("opdash"),
      ],
      environment: [
        "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": place.folder.url.path,
      ])
    let isSeen = pty.waitUntil { $0.text.contains("\u{1B}]9;jobs: 1 of 3 failed\u{7}") }
    #expect(isSeen, "\(pty.text)")
    pty.send("\n")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
  }

  @Test(arguments: ["tui", "inline"])
  func theEndIsToldAsItWasAskedFor(_ interface: String) throws {
    try place.write("", to: "go")
    for (how, bytes) in [("bell", "\u{7}"), ("message", "\u{1B}]9;jobs: 1 of 3 failed\u{7}")] {
      let pty = try place.pty("run", "jobs.yml", "--ui", interface, "--notify", how, "--keep-open=never")
      #expect(pty.waitUntil { $0.ending == .exited(1) })
      #expect(pty.text.components(separatedBy: bytes).count == 2, "\(how)")
    }
    try place.write(settings: "notify: bell\n")
    let silent = try place.pty("run", "jobs.yml", "--ui", interface, "--notify=none", "--keep-open=never")
    #expect(silent.waitUntil { $0.ending == .exited(1) })
    #expect(!silent.text.contains("\u{7}") && !silent.text.contains("\u{1B}]9;j"))
    let off = try place.run("run", "jobs.yml", "--ui", interface == "tui" ? "auto" : interface)
    #expect(off.ending() == .exited(1))
    #expect(!off.outputText.contains("\u{7}"))
  }
}
