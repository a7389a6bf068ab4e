import Foundation

/// A program to start: its arguments, directory and environment, and how it is ended.
public struct ProcessLaunch: Sendable {
  /// The program and its arguments; a program without a slash is looked for in the PATH that it is given.
  public var arguments: [String]
  /// The working directory, nil for that of this process; a relative program is relative to it.
  public var directory: String?
  /// Variables that are added to the environment of this process, or replace those there.
  public var environment: [String: String]
  /// The signal that asks the process group to end.
  public var stopSignal: Int32
  /// How long the process group may take to end after the stop signal before it is killed.
  public var grace: Duration

  /// Starts a program with its arguments, without a shell.
  public init(
    _ arguments: [String], directory: String? = nil, environment: [String: String] = [:], stopSignal: Int32 = SIGTERM,
    grace: Duration = .seconds(5)
  ) {
    self.arguments = arguments
    self.directory = directory
    self.environment = environment
    self.stopSignal = stopSignal
    self.grace = grace
  }

  /// Starts `/bin/sh` with a script.
  public init(
    script: String, directory: String? = nil, environment: [String: String] = [:], stopSignal: Int32 = SIGTERM,
    grace: Duration = .seconds(5)
  ) {
    self.init(
      ["/bin/sh", "-c", script], directory: directory, environment: environment, stopSignal: stopSignal, grace: grace)
  }
}
