import Basics
import Foundation
import Processes

/// A program for the cluster: its attempt, its command, and what it needs.
package struct SlurmJob: Sendable {
  /// What the job is found by.
  package var identity: SlurmIdentity
  /// The name that `squeue` shows.
  package var name: String
  /// The program and its arguments; a text for a shell is `["/bin/sh", "-c", text]`.
  package var arguments: [String]
  /// The working directory on the node, absolute.
  package var directory: String
  /// Variables that are added to the environment of this process, which the job gets.
  package var environment: [String: String]
  package var resources: SlurmResources
  /// How its program is asked to end.
  package var stop: Stop
  /// What is replaced by `***` in the log.
  package var secrets: SecretMask?

  package init(
    _ identity: SlurmIdentity, name: String, arguments: [String], directory: String,
    environment: [String: String] = [:], resources: SlurmResources = SlurmResources(), stop: Stop = Stop(),
    secrets: SecretMask? = nil
  ) {
    self.identity = identity
    self.name = name
    self.arguments = arguments
    self.directory = directory
    self.environment = environment
    self.resources = resources
    self.stop = stop
    self.secrets = secrets
  }

  /// The signal that a cancelled job gets, and the time until SIGKILL.
  package struct Stop: Sendable, Hashable {
    package var signal: Int32
    package var grace: Duration

    package init(signal: Int32 = SIGTERM, grace: Duration = .seconds(5)) {
      self.signal = signal
      self.grace = grace
    }

    /// Whether Slurm ends a cancelled job in this way by itself: it sends SIGTERM, and SIGKILL after the cluster's `KillWait`,
    /// which is seldom shorter than the usual grace.
    var isDefault: Bool { signal == SIGTERM && grace <= Self().grace }

    /// As Slurm and shells write it, `INT` for example.
    var signalName: String { SignalName.short(signal) }
  }
}
