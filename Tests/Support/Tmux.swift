import Foundation

/// A program in a real terminal emulator: a tmux server for each test.
///
/// When the program ends its last screen stays, moved up a row by tmux's line "Pane is dead".
package final class TmuxSession: Sendable {
  private let folder: URL
  private let socket: String
  private let environment: [String: String]

  /// Runs `command` through the shell in a window of `columns` and `rows`.
  ///
  /// The command sees `environment`, and a TERM of `term`.
  package init(
    columns: Int = 80, rows: Int = 24, term: String = "tmux-256color", environment: [String: String] = [:],
    _ command: String
  ) throws {
    folder = URL(fileURLWithPath: "/tmp").appendingPathComponent("opdash-tmux-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    socket = folder.appendingPathComponent("s").path
    var given = ProcessInfo.processInfo.environment
    for name in ["TMUX", "TMUX_PANE", "CI", "NO_COLOR", "COLUMNS", "LINES"] { given[name] = nil }
    given["LC_ALL"] = "C.UTF-8"
    given["TERM"] = "xterm-256color"
    self.environment = given.merging(environment) { $1 }
    do {
      try tmux(
        "start-server", ";", "set", "-g", "default-terminal", term, ";", "set", "-g", "remain-on-exit", "on", ";",
        "set", "-g", "history-limit", "2000", ";", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", command)
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  /// Presses keys, by tmux's names for them: `q`, `F5`, `C-c`, `M-x`, `Enter`, `PPage`, `BTab`.
  package func press(_ keys: String...) throws { try tmux(["send-keys", "--"] + keys) }

  /// Types text as it is.
  package func type(_ text: String) throws { try tmux("send-keys", "-l", "--", text) }

  /// Pastes text, bracketed if the program has asked for it.
  package func paste(_ text: String) throws {
    try tmux("set-buffer", "--", text)
    try tmux("paste-buffer", "-p")
  }

  /// The rows of the screen, without trailing blanks.
  package func screen() throws -> String { try tmux("capture-pane", "-p") }

  /// The rows with the escape sequences of their colours.
  package func styledScreen() throws -> String { try tmux("capture-pane", "-p", "-e") }

  /// Writes every byte that the program writes from now on to a file too.
  package func record(to path: String) throws { try tmux("pipe-pane", "exec cat > '\(path)'") }

  package func resize(columns: Int, rows: Int) throws {
    try tmux("resize-window", "-x", "\(columns)", "-y", "\(rows)")
  }

  /// One of tmux's variables: `cursor_flag`, `alternate_on`, `pane_dead_status`, `pane_pid`.
  package func value(_ name: String) throws -> String {
    try tmux("display-message", "-p", "#{\(name)}").trimmingCharacters(in: .newlines)
  }

  /// The exit status once the command has ended, as a shell tells it: 130 if SIGINT has ended it.
  package func exitStatus() throws -> Int? {
    if let status = try Int(value("pane_dead_status")) { return status }
    // A number, or a name where the system has a table of them.
    let signal = try value("pane_dead_signal")
    if let number = Int(signal) ?? ["HUP": 1, "INT": 2, "TERM": 15][signal.uppercased()] { return 128 + number }
    // tmux sometimes misses the end of its child: it sees the closed terminal but leaves a zombie.
    if try value("pane_dead") == "1", signal.isEmpty, let server = try pid_t(value("pid")) {
      kill(server, SIGCHLD)
    }
    return nil
  }

  /// Waits until the screen is as wanted.
  package func waitUntil(_ condition: (String) throws -> Bool) throws -> Bool {
    try eventually { try condition(screen()) }
  }

  /// Ends the session and its program.
  package func close() {
    _ = try? tmux("kill-server")
    try? FileManager.default.removeItem(at: folder)
  }

  @discardableResult
  private func tmux(_ arguments: String...) throws -> String { try tmux(arguments) }

  @discardableResult
  private func tmux(_ arguments: [String]) throws -> String {
    let (output, ending) = try ChildProcess.run(
      ["tmux", "-u", "-S", socket, "-f", "/dev/null"] + arguments, environment: environment)
    guard ending == .exited(0) else {
      throw ChildProcess.Failure(description: "tmux \(arguments.joined(separator: " ")): \(String(describing: ending))")
    }
    return output
  }
}
