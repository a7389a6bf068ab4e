import Basics
import Foundation
import Processes

/// A program for the cluster with its attempt, its command and its resources.
package struct SlurmJob: Sendable {
  /// The identity that the job is found by.
  package var identity: SlurmIdentity
  /// The name that `squeue` shows.
  package var name: String
  /// The program and its arguments; a shell script is `["/bin/sh", "-c", text]`.
  package var arguments: [String]
  /// The absolute working directory on the node.
  package var directory: String
  /// Variables that are added to the environment of this process, which the job inherits.
  package var environment: [String: String]
  package var resources: SlurmResources
  /// The way its program is asked to end.
  package var stop: Stop
  /// The secrets that `***` replaces in the log.
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

  package typealias Stop = ProgramStop
}

extension SlurmJob.Stop {
  /// Whether Slurm itself ends a cancelled job in this way.
  ///
  /// Slurm sends SIGTERM, and SIGKILL after the cluster's `KillWait`, which is rarely shorter than the default grace.
  var isDefault: Bool { signal == SIGTERM && grace <= Self().grace }

  /// The name as Slurm and shells write it, such as `INT`.
  var signalName: String { SignalName.short(signal) }
}
