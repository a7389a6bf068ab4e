/// A program that runs while other jobs need it.
///
/// Takes no slot, and is stopped when every job that needs it has ended.
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

  package init(
    probe: Probe? = nil, interval: Duration = .milliseconds(500), limit: Duration = .seconds(30),
    restart: Restart = .never
  ) {
    self.probe = probe
    self.interval = interval
    self.limit = limit
    self.restart = restart
  }
}
