import Foundation
import Screen
import Support
import Testing

@testable import Dashboard

/// Every key of the dashboard, pressed in a real terminal.
@Suite(.serialized) struct TerminalKeyTests {
  /// `hold` has keys in a replay only: `RecordTests` presses them.
  @Test(arguments: Command.all.filter { $0 != .hold })
  func everyKeyOfTheActionIsSeenToWork(_ action: Command) async throws {
    let item = try #require(KeyCase.of(action), "no case in KeyCases.swift")
    let keys = KeyMap.standard.bindings.filter { $0.command == action }.flatMap(\.keys)
    #expect(!keys.isEmpty)
    let place = try Workplace()
    let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/keys.yml")
    try FileManager.default.copyItem(at: fixture, to: place.folder.file("keys.yml"))
    let window = try place.window(columns: 110, rows: 30, "run", "keys.yml", "--keep-open=always")
    try await window.soonSees("the run at work") { $0.text.contains("1 failed") && $0.text.contains("slots 3/3") }
    for key in keys {
      for step in item.before { try window.press(step) }
      if item.isDefaced { try deface(window) }
      try await window.soonSees("what \(name(key)) is pressed on") { item.ready($0) && !item.seen($0, $0) }
      let before = try window.screen()
      try window.press(name(key))
      try await window.soonSees("\(action) by \(name(key))") { screen in
        if item.seen(before, screen) { return true }
        if item.isNotice { try? window.press(name(key)) }
        return false
      }
      for step in item.after { try window.press(step) }
      try await window.soonSees("the screen after \(name(key))", item.home)
    }
    if action == .detach {
      #expect(try place.run("cancel", "last").ending() == .exited(0))
      #expect(try place.run("wait", "last").ending() == .exited(1))
    }
  }

  /// Writes over the screen behind the program's back.
  private func deface(_ window: Window) throws {
    let terminal = try #require(try FileHandle(forWritingAtPath: window.session.value("pane_tty")))
    terminal.write(Data("\u{1B}[12;20HDEFACED".utf8))
  }

  /// What tmux calls a key.
  private func name(_ key: Key) -> String {
    switch key {
    case .character(" "): "Space"
    case .character(let character): String(character)
    case .control(let letter): "C-\(letter)"
    case .function(let number): "F\(number)"
    case .up: "Up"
    case .down: "Down"
    case .left: "Left"
    case .right: "Right"
    case .pageUp: "PPage"
    case .pageDown: "NPage"
    case .home: "Home"
    case .end: "End"
    case .enter: "Enter"
    case .escape: "Escape"
    case .tab: "Tab"
    case .backTab: "BTab"
    case .backspace: "BSpace"
    case .delete: "DC"
    }
  }
}
