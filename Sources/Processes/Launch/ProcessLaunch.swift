import Foundation
import Operations

/// A program to start: its arguments, directory and environment, and the way to end it.
public struct ProcessLaunch: Sendable {
  /// The program and its arguments; a program without a slash is looked up in the PATH of its environment.
  public var arguments: [String]
  /// The working directory, nil for this process's; a relative program is relative to it.
  public var directory: String?
  /// The environment variables.
  public var environment: ProcessEnvironment
  /// The standard input.
  public var input: ProcessInput
  /// The signal that asks the process group to end.
  public var stopSignal: Int32
  /// How long the process group may take to end after the stop signal before it is killed.
  public var grace: Duration
  /// The size of the pseudo-terminal that the program gets as its controlling terminal; nil for none.
  ///
  /// The standard output and the standard error are this terminal, and so is the standard input unless one is given.
  /// The output of both arrives as the standard output. The terminal receives no input: a program that reads it finds
  /// the end of the input. `TERM` becomes `xterm-256color` and inherited `COLUMNS` and `LINES` are not passed on,
  /// unless `environment` names them.
  public var terminal: TerminalSize?
  /// The time between SIGTERM and SIGKILL for programs with remote processes, such as srun.
  ///
  /// Shorter when this process ends. Nil for other programs, which get SIGKILL at once.
  package var remoteGrace: Duration?
  /// The values replaced by `***` in the output before it is used.
  package var secrets: SecretMask?
  /// Whether the standard error has the same destination as the standard output.
  package var mergesError = false
  /// Two descriptors above 4 that the program gets as 3 and 4; or none.
  package var descriptors: [Int32] = []
  /// The words before the script, if the launch was created with its own shell.
  private var shell: [String]?

  /// Starts a program with its arguments, without a shell.
  public init(
    _ arguments: [String], directory: String? = nil, environment: ProcessEnvironment = .inherited,
    input: ProcessInput = .none, stopSignal: Int32 = SIGTERM, grace: Duration = .seconds(5)
  ) {
    self.arguments = arguments
    self.directory = directory
    self.environment = environment
    self.input = input
    self.stopSignal = stopSignal
    self.grace = grace
  }

  /// Starts `/bin/sh` with a script; if the script is only a program with its arguments, starts the program itself.
  public init(
    script: String, directory: String? = nil, environment: ProcessEnvironment = .inherited,
    input: ProcessInput = .none, stopSignal: Int32 = SIGTERM, grace: Duration = .seconds(5)
  ) {
    self.init(
      ["/bin/sh", "-c", script], directory: directory, environment: environment, input: input, stopSignal: stopSignal,
      grace: grace)
  }

  /// Starts a shell with a script, whose text names the launch; `shell` is the words before it, such as `bash -e -c`.
  package init(
    script: String, shell: [String], directory: String? = nil, environment: ProcessEnvironment = .inherited,
    input: ProcessInput = .none, stopSignal: Int32 = SIGTERM, grace: Duration = .seconds(5)
  ) {
    self.init(
      shell + [script], directory: directory, environment: environment, input: input, stopSignal: stopSignal,
      grace: grace)
    self.shell = shell
  }
}

extension ProcessLaunch {
  private static let shells = [["/bin/sh", "-c"], ["/bin/sh", "-e", "-c"]]

  /// Whether both outputs of the program share one stream.
  var hasOneStream: Bool { mergesError || terminal != nil }

  /// The same program started without a shell, if the script is only that program with its arguments.
  var withoutShell: ProcessLaunch? {
    guard Self.shells.contains(Array(arguments.dropLast())), let words = arguments.last.flatMap(PlainScript.words)
    else {
      return nil
    }
    var launch = self
    launch.arguments = words
    if let directory {
      guard directory.isAbsolutePath else { return nil }
      launch.environment = environment.forDirectory(directory)
    }
    return launch
  }

  private var script: String? {
    let words = Array(arguments.dropLast())
    return words == shell || Self.shells.contains(words) ? arguments.last : nil
  }

  /// The script, or the program with its arguments, on one line of at most 60 characters; credentials in URLs and the
  /// launch's secrets are masked.
  var commandLine: String {
    let words = (script.map { [$0] } ?? [file] + arguments.dropFirst()).lazy.flatMap { text in
      (secrets?.masked(text) ?? text).prefix(4096).split(whereSeparator: \.isWhitespace)
    }
    let line = words.prefix(60).map { String($0).maskedURL }.joined(separator: " ")
    return line.count > 60 ? line.prefix(59) + "…" : line
  }

  /// The name of the program's file.
  private var file: String { arguments.first?.split(separator: "/").last.map(String.init) ?? "" }

  /// The script in quotation marks, or the name of the program's file.
  var programName: String { script == nil ? file : "'\(commandLine)'" }
}
