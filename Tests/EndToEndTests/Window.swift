import Foundation
import Support
import Testing

/// The dashboard in a real terminal emulator, as a person works with it.
final class Window {
  let session: TmuxSession

  init(_ session: TmuxSession) { self.session = session }

  /// The window as it stands.
  func screen() throws -> ScreenText { ScreenText(text: try session.screen()) }

  /// Waits until the screen is as wanted, and complains with the screen if it never is.
  func sees(
    _ what: String, at place: SourceLocation = #_sourceLocation, _ condition: (ScreenText) -> Bool
  ) throws {
    var last = ""
    let isSeen = try session.waitUntil {
      last = $0
      return condition(ScreenText(text: $0))
    }
    guard isSeen else { throw Unseen(description: "never seen: \(what)\n\(last)") }
  }

  /// As `sees`, for a test that takes long: it leaves the thread to tasks between two looks.
  func soonSees(_ what: String, _ condition: (ScreenText) -> Bool) async throws {
    var last = ""
    let isSeen = try await soon {
      last = try session.screen()
      return condition(ScreenText(text: last))
    }
    guard isSeen else { throw Unseen(description: "never seen: \(what)\n\(last)") }
  }

  /// Waits for a text anywhere on the screen.
  func sees(_ text: String, at place: SourceLocation = #_sourceLocation) throws {
    try sees(text, at: place) { $0.text.contains(text) }
  }

  /// Waits for a job's row to begin with this letter and to hold this text.
  func sees(_ job: String, _ letter: Character, _ text: String = "", at place: SourceLocation = #_sourceLocation) throws
  {
    try sees("\(letter) \(job) \(text)", at: place) { screen in
      guard let row = screen.row(job) else { return false }
      return row.letter == letter && (text.isEmpty || row.text.contains(text))
    }
  }

  func press(_ keys: String...) throws { for key in keys { try session.press(key) } }

  /// Filters the list down to one job, so that the keys act on it.
  func choose(_ job: String, of all: Int) throws {
    if try !screen().isWhole { try showAll() }
    try press("/")
    try session.type(job)
    try sees("the filter \(job)") {
      $0.lines.last?.hasPrefix(" /\(job)") == true && $0.lines.last?.contains(" 1/\(all)") == true
    }
    try press("Enter")
    try sees("the list filtered by \(job)") { screen in
      screen.row(job) != nil && screen.lines.contains { $0.contains("/\(job)  1/\(all)") }
        && screen.lines.contains { $0.contains(" log: \(job) ") }
    }
  }

  /// Takes the filter away.
  func showAll() throws {
    try press("Escape")
    try sees("the whole list") { $0.isWhole }
  }

  /// Waits for the program to end and returns its status.
  func exitStatus() throws -> Int? {
    var status: Int?
    _ = try eventually {
      status = try session.exitStatus()
      return status != nil
    }
    if let status { return status }
    throw try Unseen(description: "no exit status; the screen:\n\(session.screen())")
  }

  /// The program in the window.
  func pid() throws -> pid_t { try pid_t(session.value("pane_pid")) ?? 0 }

  struct Unseen: Error, CustomStringConvertible {
    let description: String
  }
}

/// What a window shows.
struct ScreenText {
  struct Row {
    var letter: Character
    /// What stands right of the name.
    var text: Substring
  }

  let text: String
  let lines: [String]

  init(text: String) {
    self.text = text
    lines = text.trimmingSuffix("\n").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// Whether no filter hides jobs of the list.
  var isWhole: Bool { text.contains("sorted by attention") }

  /// The row of a job in the list.
  func row(_ job: String) -> Row? {
    for line in lines {
      let rest = line.dropFirst(3)
      guard rest.hasPrefix("\(job) "), let letter = line.dropFirst().first, line.dropFirst(2).first == " " else {
        continue
      }
      return Row(letter: letter, text: rest.dropFirst(job.count).prefix { $0 != "│" })
    }
    return nil
  }
}

extension String {
  fileprivate func trimmingSuffix(_ character: Character) -> Substring {
    var rest = self[...]
    while rest.last == character { rest.removeLast() }
    return rest
  }
}
