/// A program that runs while other jobs need it.
///
/// Takes no slot, and is stopped when every job that needs it has ended, unless the graph keeps its services up.
package struct Service: Sendable, Equatable {
  /// How it is known that the program can be used.
  package enum Probe: Sendable, Equatable {
    /// The URL answers a GET with a status below 400.
    case url(String)
    /// The port accepts a connection.
    case port(host: String, UInt16)
    /// The command, in the service's folder and environment, exits with 0.
    case command(ShellWork.Command)
    /// A line of its output matches the regular expression.
    case output(String)
    /// The program says so, by the protocol of sd_notify.
    case notification
  }

  /// How it is known that a program which could be used still can be.
  package struct Liveness: Sendable, Equatable {
    /// Neither an output nor a notification.
    package var probe: Probe
    /// The time between two probes.
    package var interval: Duration = .seconds(10)
    /// The time that an answer may take.
    package var limit: Duration = .seconds(5)
    /// How many probes in a row must fail before the program is ended.
    package var failures = 3

    package init(_ probe: Probe) { self.probe = probe }
  }

  package enum Restart: String, Sendable, CaseIterable {
    case never
    case onFailure = "on-failure"
    case always
  }

  /// Nil if it can be used as soon as it is started.
  package var probe: Probe?
  /// The time between two probes.
  package var interval: Duration
  /// How long it may take from its start until it can be used.
  package var limit: Duration
  /// When an end that was not asked for is followed by another start, as often as the job's retry policy allows.
  package var restart: Restart
  /// Nil if it is in use until its program ends.
  package var alive: Liveness?

  package init(
    probe: Probe? = nil, interval: Duration = .milliseconds(500), limit: Duration = .seconds(30),
    restart: Restart = .never, alive: Liveness? = nil
  ) {
    self.probe = probe
    self.interval = interval
    self.limit = limit
    self.restart = restart
    self.alive = alive
  }
}
