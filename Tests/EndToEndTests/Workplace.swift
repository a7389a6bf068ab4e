import Foundation
import Support

/// A folder and a home of its own for one test, with the built opdash to run in it.
final class Workplace: Sendable {
  let folder: TemporaryFolder
  private let variables: [String: String]

  /// Has these files by name, and these variables beside its own.
  init(_ variables: [String: String] = [:], files: KeyValuePairs<String, String> = [:]) throws {
    folder = try TemporaryFolder()
    let own = [
      "HOME": folder.url.path, "XDG_STATE_HOME": folder.file("state").path,
      "XDG_CONFIG_HOME": folder.file("config").path, "LC_ALL": "C.UTF-8",
      // Sockets are in the state folder, apart from those of the person who tests.
      "XDG_RUNTIME_DIR": "",
      "PATH": "/usr/local/bin:/usr/bin:/bin",
    ]
    self.variables = own.merging(FaultHandling.environment) { $1 }.merging(variables) { $1 }
    for (name, text) in files { try write(text, to: name) }
  }

  /// A folder with `nap.yml`: one job, whose process has the marker among its arguments.
  static func napping(with marker: String) throws -> Workplace {
    let place = try Workplace()
    try place.write("jobs: { nap: { run: [sleep, \"\(marker)\"] } }", to: "nap.yml")
    return place
  }

  func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: folder.file(name)) }

  /// Makes the person's settings file.
  func write(settings text: String) throws {
    try FileManager.default.createDirectory(at: folder.file("config/opdash"), withIntermediateDirectories: true)
    try write(text, to: "config/opdash/config.yaml")
  }

  func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder.file(name).path) }

  func contents(_ name: String) -> Data? { FileManager.default.contents(atPath: folder.file(name).path) }

  /// The logs of all runs.
  var logs: [URL] {
    folder.names(in: "state/opdash/runs").flatMap { run in
      folder.names(in: "state/opdash/runs/\(run)/logs").map { folder.file("state/opdash/runs/\(run)/logs/\($0)") }
    }
  }

  /// The bytes that they hold together.
  var logSize: Int { logSizes.reduce(0, +) }

  /// The bytes that each of them holds.
  var logSizes: [Int] {
    logs.map { (try? FileManager.default.attributesOfItem(atPath: $0.path)[.size] as? Int) ?? 0 }
  }

  /// The words of a command line that does `words` in this folder.
  private func command(_ words: [String]) -> [String] {
    ["sh", "-c", "cd \"$0\" && exec \"$@\"", folder.url.path, Built.product("opdash")] + words
  }

  /// Opens the dashboard in a window; what stands after the command line is the shell's.
  func window(columns: Int = 80, rows: Int = 24, _ words: String..., in term: String = "tmux-256color") throws -> Window
  {
    try Window(
      TmuxSession(
        columns: columns, rows: rows, term: term, environment: variables,
        command(words).map(Self.quoted).joined(separator: " ")))
  }

  /// A shell in a window, with job control.
  func shell(columns: Int = 80, rows: Int = 24) throws -> Window {
    try Window(
      TmuxSession(
        columns: columns, rows: rows,
        environment: variables.merging(["PS1": "$ ", "OPDASH": Built.product("opdash")]) { $1 },
        "cd \(Self.quoted(folder.url.path)) && exec bash --norc --noprofile -i"))
  }

  /// Opens the dashboard on a bare terminal.
  func pty(columns: Int = 80, rows: Int = 24, _ words: String..., environment: [String: String] = [:]) throws -> Pty {
    try pty(columns: columns, rows: rows, words: words, environment: environment)
  }

  /// As the other one; `redirection` is the shell's.
  func pty(
    columns: Int = 80, rows: Int = 24, words: [String], environment: [String: String] = [:], redirection: String = ""
  ) throws -> Pty {
    let term = ["TERM": "xterm-256color"].merging(environment) { $1 }
    var command = command(words)
    command[2] += " \(redirection)"
    return try Pty(command, environment: variables.merging(term) { $1 }, columns: columns, rows: rows)
  }

  /// Runs a script for sh on a bare terminal, in which `$OPDASH` is opdash.
  func pty(script text: String) throws -> Pty {
    let more = ["OPDASH": Built.product("opdash"), "TERM": "xterm-256color"]
    return try Pty(
      ["sh", "-c", "cd \"$0\" && \(text)", folder.url.path], environment: variables.merging(more) { $1 })
  }

  /// Starts opdash off a terminal, its outputs going to files.
  func start(_ words: String..., environment: [String: String] = [:]) throws -> Background {
    try start(words: words, environment: environment)
  }

  /// As the other one.
  func start(words: [String], environment: [String: String] = [:]) throws -> Background {
    try Background(command(words), environment: variables.merging(environment) { $1 }, in: folder)
  }

  /// Runs a script for sh to its end, in which `$OPDASH` is opdash.
  func script(_ text: String, environment: [String: String] = [:]) throws -> Background {
    let background = try start(script: text, environment: environment)
    _ = background.ending()
    return background
  }

  /// Starts a script for sh, in which `$OPDASH` is opdash.
  func start(script text: String, environment: [String: String] = [:]) throws -> Background {
    try Background(
      ["sh", "-c", "cd \"$0\" && \(text)", folder.url.path],
      environment: variables.merging(["OPDASH": Built.product("opdash")]) { $1 }.merging(environment) { $1 }, in: folder
    )
  }

  /// Runs opdash off a terminal to its end.
  func run(_ words: String..., environment: [String: String] = [:]) throws -> Background {
    let background = try Background(command(words), environment: variables.merging(environment) { $1 }, in: folder)
    _ = background.ending()
    return background
  }

  private static func quoted(_ word: String) -> String { "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'" }
}

/// A program that runs beside the test, with files as its outputs and nothing as its input.
final class Background {
  let child: ChildProcess
  private let output: URL
  private let errors: URL
  private var known: ChildProcess.Ending?

  init(_ arguments: [String], environment: [String: String], in folder: TemporaryFolder) throws {
    let number = UUID().uuidString
    (output, errors) = (folder.file("\(number).out"), folder.file("\(number).err"))
    let descriptors = try [
      ("/dev/null", O_RDONLY), (output.path, O_RDWR | O_CREAT | O_APPEND), (errors.path, O_RDWR | O_CREAT | O_APPEND),
    ].map { path, flags in
      let descriptor = open(path, flags | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        throw ChildProcess.Failure(description: "\(path): \(String(cString: strerror(errno)))")
      }
      return descriptor
    }
    defer { for descriptor in descriptors { close(descriptor) } }
    child = try ChildProcess(arguments, environment: environment, descriptors: descriptors)
  }

  deinit {
    if known == nil { child.stop() }
  }

  var outputBytes: Data { FileManager.default.contents(atPath: output.path) ?? Data() }
  var outputText: String { String(decoding: outputBytes, as: UTF8.self) }
  var outputLines: [Substring] { outputText.split(separator: "\n") }
  var errorText: String { String(decoding: FileManager.default.contents(atPath: errors.path) ?? Data(), as: UTF8.self) }

  /// How it ended, nil while it executes.
  func checkEnding() -> ChildProcess.Ending? {
    if known == nil { known = child.ending() }
    return known
  }

  /// How it ended, waiting for that; nil if it does not end.
  func ending() -> ChildProcess.Ending? {
    _ = eventually { checkEnding() != nil }
    return known
  }
}
