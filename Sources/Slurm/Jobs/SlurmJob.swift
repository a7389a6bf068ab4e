import Basics

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
  /// What is replaced by `***` in the log.
  package var secrets: SecretMask?

  package init(
    _ identity: SlurmIdentity, name: String, arguments: [String], directory: String,
    environment: [String: String] = [:], resources: SlurmResources = SlurmResources(), secrets: SecretMask? = nil
  ) {
    self.identity = identity
    self.name = name
    self.arguments = arguments
    self.directory = directory
    self.environment = environment
    self.resources = resources
    self.secrets = secrets
  }
}
