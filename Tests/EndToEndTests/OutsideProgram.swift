import Foundation
import Support
import Testing

/// A program of the package Tests/OutsidePrograms with the files that it waits for.
final class OutsideProgram {
  static let path = "\(Outside.folder ?? "")/shapes"

  private let place: TemporaryFolder
  private let shape: String
  private let more: [String: String]

  init(_ shape: String, _ more: [String: String] = [:]) throws {
    place = try TemporaryFolder()
    self.shape = shape
    self.more = more
  }

  var environment: [String: String] {
    var environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "SWIFT_BACKTRACE": "enable=no"]
    for name in ["START", "GO", "END", "LEAVE"] { environment[name] = place.file(name).path }
    return environment.merging(FaultHandling.environment) { $1 }.merging(more) { $1 }
  }

  /// Has the program go on.
  func tell(_ name: String) throws { try Data().write(to: place.file(name)) }

  func file(_ name: String) -> URL { place.file(name) }

  /// In a terminal emulator, alone.
  func window(columns: Int = 80, rows: Int = 24) throws -> Window {
    try Window(TmuxSession(columns: columns, rows: rows, environment: environment, "exec '\(Self.path)' \(shape)"))
  }

  /// In a terminal emulator, from a shell that stays.
  func shell(columns: Int = 80, rows: Int = 24) throws -> Window {
    let window = try Window(
      TmuxSession(columns: columns, rows: rows, environment: environment, "bash --norc --noprofile -i"))
    try window.session.type("PS1='$ '; '\(Self.path)' \(shape); echo status $?\n")
    return window
  }

  /// On a bare terminal; `redirection` is the shell's.
  func pty(_ redirection: String = "") throws -> Pty {
    try Pty(
      ["sh", "-c", "exec '\(Self.path)' \(shape) \(redirection)"],
      environment: environment.merging(["TERM": "xterm-256color"]) { $1 })
  }

  /// Without a terminal, to its end.
  func background() throws -> Background {
    let background = try Background([Self.path, shape], environment: environment, in: place)
    _ = background.ending()
    return background
  }
}

extension Pty {
  /// What was written after the screen was given back, without control sequences; nil while it is shown.
  var textAfterScreen: String? {
    text.range(of: "\u{1B}[?1049l", options: .backwards).map {
      // Curses returns the cursor to the first column.
      String(text[$0.upperBound...].replacing(/\u{1B}(\[[0-9;?]*[A-Za-z]|[=>])/, with: "").drop { $0 == "\r" })
    }
  }

  /// Waits for the program to end.
  func waitForEnding() -> ChildProcess.Ending? {
    _ = waitUntil { $0.ending != nil }
    pump()
    return ending
  }
}
