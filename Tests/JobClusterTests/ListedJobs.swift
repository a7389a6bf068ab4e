import Operations
import Slurm
import Support

/// A Slurm with the jobs of the lines of squeue; without lines, no controller answers.
final class ListedJobs: SlurmRunner {
  private struct State {
    var lines: [String]?
    var cancelled: [String] = []
    var queries = 0
  }

  private let canCancel: Bool
  private let state: Lock<State>

  init(_ lines: [String]?, canCancel: Bool = true) {
    self.canCancel = canCancel
    state = Lock(State(lines: lines))
  }

  /// A line of squeue.
  static func job(_ id: Int, _ state: String, run: String = "r", name: String = "a", attempt: Int) -> String {
    "\(id)\u{1F}\(state)\u{1F}None\u{1F}\u{1F}T\u{1F}opdash/\(run)/\(name)/\(attempt)\u{1F}\u{1F}\(name)\u{1F}0:00\n"
  }

  func run(_ command: SlurmCommand, _ done: @escaping @Sendable (SlurmAnswer) -> Void) {
    let silence = SlurmAnswer(.exited(1), error: "Unable to contact slurm controller (connect failure)\n")
    let answer = state.withLock { state in
      if command.arguments[0] == "squeue" {
        state.queries += 1
        return state.lines.map { SlurmAnswer(.exited(0), output: $0.joined()) } ?? silence
      }
      state.cancelled += command.arguments
      guard canCancel else { return silence }
      // What is cancelled has ended at the next query.
      state.lines = state.lines?.filter { line in
        !command.arguments.contains { line.hasPrefix("\($0)\u{1F}") }
      }
      return SlurmAnswer(.exited(0))
    }
    done(answer)
  }

  /// Replaces the lines.
  func list(_ lines: [String]) { state.withLock { $0.lines = lines } }

  /// The words of all calls that cancel.
  var cancelled: [String] { state.withLock(\.cancelled) }
  var queries: Int { state.withLock(\.queries) }
}
