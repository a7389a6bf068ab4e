/// The reason that a job waits for the cluster, in the scheduler's own word.
package struct SlurmReason: Sendable, Equatable, CustomStringConvertible {
  /// The word from squeue, such as `Resources`.
  package let code: String

  package init(_ code: String) { self.code = code }

  /// The word with its meaning, if it is a common one, such as `Resources (other jobs have the nodes)`.
  package var description: String { meaning.map { "\(code) (\($0))" } ?? code }

  /// The meaning of the word, with brief advice for some; nil for a rare word.
  private var meaning: String? {
    if let known = Self.meanings[code] { return known }
    if code.hasPrefix("QOS") { return "a limit of the quality of service" }
    if code.hasPrefix("Assoc") || code.hasPrefix("Account") { return "a limit of the account" }
    if code.hasPrefix("ReqNodeNotAvail") { return "a node that it needs is down or reserved" }
    return nil
  }

  private static let meanings = [
    "Resources": "other jobs have the nodes",
    "Priority": "jobs of higher priority come first",
    "Dependency": "another job has to end first",
    "DependencyNeverSatisfied": "the job that it depends on did not end as it should",
    "BeginTime": "its begin is later",
    "JobHeldUser": "held with scontrol: scontrol release lets it start",
    "JobHeldAdmin": "an administrator holds it",
    "JobArrayTaskLimit": "its array may not have more jobs executing",
    "Licenses": "a license is in use",
    "Reservation": "its reservation has not begun",
    "MaxMemPerLimit": "more memory than the cluster allows: lower slurm.memory",
    "PartitionDown": "the partition is down",
    "PartitionInactive": "the partition is inactive",
    "PartitionNodeLimit": "more nodes than the partition allows: lower slurm.nodes",
    "PartitionTimeLimit": "longer than the partition allows: lower slurm.time",
    "PartitionConfig": "the partition can't give what it asks for",
    "BadConstraints": "no node can give what it asks for",
    "NodeDown": "a node that it needs is down",
    "JobLaunchFailure": "the node could not start it",
    "InvalidAccount": "there is no such account: see slurm.account",
    "InvalidQOS": "there is no such quality of service: see slurm.qos",
    "RaisedSignal:53(Real-time_signal_19)": "the node can't use the folder of its output",
  ]
}
