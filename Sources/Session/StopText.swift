import JobModel
import Screen

/// The line that answers a signal without a dashboard.
package enum StopText {
  package static let named = 5

  package static func line(_ level: StopLevel, _ run: Run) -> String {
    let running = run.ids.filter { run[$0].state.isActive }
    guard !running.isEmpty else { return "opdash: stopping" }
    var names = running.prefix(named).map { JobText.clean(run[$0].job.name) }
    if running.count > names.count { names.append("\(running.count - names.count) more") }
    let list = names.joined(separator: ", ")
    switch level {
    case .terminate: return "opdash: stopping; still running: \(list). Ctrl-C again kills."
    case .kill: return "opdash: killing \(list). Ctrl-C again leaves at once."
    }
  }
}
