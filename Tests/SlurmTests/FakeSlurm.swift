import Foundation
import Operations

@testable import Slurm

/// A Slurm that answers from memory, for tests of what is asked, when and how often.
final class FakeSlurm: SlurmRunner {
  struct Job: Sendable {
    var id: SlurmJobID
    var comment: String
    var state = "PENDING"
    var reason = "Resources"
    var node = ""
    var status: Int32 = 0
    var isPurged = false
    /// As a site makes it that replaces comments.
    var command = "(null)"
    var name = "other"
    var submitTime = "2026-11-26T10:00:00"
    var used = "0:00"

    var queueLine: String {
      [id.description, state, reason, node, submitTime, comment, command, name, used].joined(separator: "\u{1F}")
    }

    var controlLine: String {
      let number =
        id.index.map { "JobId=9\(id.number)\($0) ArrayJobId=\(id.number) ArrayTaskId=\($0)" } ?? "JobId=\(id)"
      return "\(number) JobName=\(name) JobState=\(state) Reason=\(reason) ExitCode=\(status >> 8):\(status & 0x7F) "
        + "RunTime=\(used) SubmitTime=\(submitTime) NodeList=\(node.isEmpty ? "(null)" : node) Command=\(command) WorkDir=/ "
        + "Comment=\(comment)"
    }
  }

  struct State: Sendable {
    var jobs: [Job] = []
    var next = 1
    var calls: [SlurmCommand] = []
    /// Answers that are given instead of the usual ones, once each, by the program.
    var canned: [String: [SlurmAnswer]] = [:]
    /// Programs whose calls wait for `release`.
    var held: Set<String> = []
    var waiting: [@Sendable () -> Void] = []
    var isDown = false
    /// What the site writes into the comment of each job; nil leaves it.
    var siteComment: String?
    var showsCommands = true
    /// What sbatch says after the controller has taken the job.
    var lostAnswers: [SlurmAnswer] = []
  }

  let state = Lock(State())
  static let down = SlurmAnswer(
    .exited(1), error: "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n")
  static let slow = SlurmAnswer(
    .exited(1), error: "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n")

  func run(_ command: SlurmCommand, _ done: @escaping @Sendable (SlurmAnswer) -> Void) {
    let program = command.arguments[0]
    let answer = state.withLock { state -> SlurmAnswer? in
      state.calls.append(command)
      if state.held.contains(program) {
        state.waiting.append { done(self.state.withLock { Self.answer(command, &$0) }) }
        return nil
      }
      return Self.answer(command, &state)
    }
    if let answer { done(answer) }
  }

  private static func answer(_ command: SlurmCommand, _ state: inout State) -> SlurmAnswer {
    let arguments = command.arguments
    if state.canned[arguments[0]]?.isEmpty == false, let answer = state.canned[arguments[0]]?.removeFirst() {
      return answer
    }
    if state.isDown { return down }
    switch arguments[0] {
    case "sbatch":
      let number = state.next
      state.next += 1
      var job = Job(id: SlurmJobID(number), comment: state.siteComment ?? value("--comment", of: arguments))
      if state.showsCommands { job.command = arguments.suffix(2).joined(separator: " ") }
      job.name = value("--job-name", of: arguments)
      job.submitTime = "2026-11-26T10:00:\(number % 60)"
      let last = value("--array", of: arguments).split(separator: "-").last.flatMap { Int($0) }
      for index in 0...(last ?? 0) {
        job.id = SlurmJobID(number, index: last == nil ? nil : index)
        state.jobs.append(job)
      }
      if let answer = state.lostAnswers.popLast() { return answer }
      return SlurmAnswer(.exited(0), output: "\(number)\n")
    case "squeue" where arguments == SlurmRecord.query.arguments:
      return SlurmAnswer(.exited(0), output: lines(state.jobs.lazy.filter { !$0.isPurged }.map(\.queueLine)))
    case "squeue":
      let failed = state.jobs.filter { $0.state == "FAILED" }
      return SlurmAnswer(.exited(0), output: lines(failed.map { "\($0.id)   \u{1F}\($0.status)  " }))
    case "scontrol" where arguments[1] == "show":
      let jobs = state.jobs.filter { arguments.count == 5 || $0.id.description == arguments.last }
      return jobs.isEmpty
        ? SlurmAnswer(.exited(1), error: "slurm_load_jobs error: Invalid job id specified\n")
        : SlurmAnswer(.exited(0), output: lines(jobs.map(\.controlLine)))
    case "scontrol":
      let ids = arguments[2].split(separator: ",").map(String.init)
      for index in state.jobs.indices where ids.contains(state.jobs[index].id.description) {
        state.jobs[index].reason = arguments[1] == "uhold" ? "JobHeldUser" : "Resources"
      }
      return SlurmAnswer(.exited(0))
    case "sacct": return SlurmAnswer(.exited(1), error: "Slurm accounting storage is disabled\n")
    default: return SlurmAnswer(.exited(0))
    }
  }

  private static func lines(_ lines: some Sequence<String>) -> String { lines.map { $0 + "\n" }.joined() }

  private static func value(_ option: String, of arguments: [String]) -> String {
    arguments.first { $0.hasPrefix(option + "=") }.map { String($0.dropFirst(option.count + 1)) } ?? ""
  }

  // MARK: For tests

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  /// Changes the jobs; of an array each one.
  func setAll(_ state: String, reason: String = "None", node: String = "node1", status: Int32 = 0) {
    change { slurm in
      for index in slurm.jobs.indices {
        slurm.jobs[index].state = state
        slurm.jobs[index].reason = reason
        slurm.jobs[index].node = node
        slurm.jobs[index].status = status
      }
    }
  }

  /// Lets the calls that wait be answered.
  func release() {
    let waiting = state.withLock { state in
      state.held = []
      defer { state.waiting = [] }
      return state.waiting
    }
    for body in waiting { body() }
  }

  func calls(of program: String) -> [[String]] {
    state.withLock { state in state.calls.map(\.arguments).filter { $0[0] == program } }
  }

  /// The queries for all jobs.
  var queries: Int { calls(of: "squeue").count { $0 == SlurmRecord.query.arguments } }
}
