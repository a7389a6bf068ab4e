import Foundation

/// What to start, where, with what around it, and how to end it.
public struct ProcessLaunch: Sendable {
  /// The program and its arguments; a program without a slash is looked for in the PATH that it is given.
  public var arguments: [String]
  /// The working directory; the one of this process if there is none.
  ///
  /// A relative program is relative to it.
  public var directory: String?
  /// What is added to the environment of this process, or replaces what is there.
  public var environment: [String: String]
  /// What asks the process group to end.
  public var stopSignal: Int32
  /// How long the process group may take to end after the stop signal, before it is killed.
  public var grace: Duration

  /// A program with its arguments, which no shell touches.
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

  /// A text that `/bin/sh` runs.
  public init(
    script: String, directory: String? = nil, environment: [String: String] = [:], stopSignal: Int32 = SIGTERM,
    grace: Duration = .seconds(5)
  ) {
    self.init(
      ["/bin/sh", "-c", script], directory: directory, environment: environment, stopSignal: stopSignal, grace: grace)
  }
}
