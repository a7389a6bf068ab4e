import Foundation
import JobModel
import OperationDashboard

/// Operations that are cancelled while they wait: they never execute but finish, and their dependents start.
enum CancelBeforeStart {
  static func perform() throws -> Performance {
    let queue = Performance.queue("cancel-before-start", width: 1)
    let diary = Diary()
    let first = Stint("first", lasts: .milliseconds(1600), diary: diary)
    let doomed = Stint("doomed", lasts: .milliseconds(1600), diary: diary)
    let blocked = Stint("blocked", lasts: .milliseconds(1600), diary: diary)
    let after = ["after-doomed", "after-blocked"].map { Stint($0, lasts: .milliseconds(600), steps: 3, diary: diary) }
    blocked.addDependency(first)
    after[0].addDependency(doomed)
    after[1].addDependency(blocked)
    let feed = QueueFeed(observing: queue)
    try feed.add([first, doomed, blocked] + after)
    let begin: @Sendable () -> Void = {
      diary.begin()
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(700)) {
        diary.note("cancelled")
        doomed.cancel()
        blocked.cancel()
      }
    }
    return Performance(feed, whenStarted: begin) { run in
      [
        "cancel-before-start: two of five operations were cancelled after \(diary.text("cancelled")), before they had begun."
      ]
        + ["doomed", "blocked"].map { name in
          let why = name == "doomed" ? "ready, and waited for the one slot" : "waited for first to finish"
          let executed = diary["\(name) began"] == nil ? "It never executed" : "It executed"
          return "  \(name) \(why). \(executed), finished after \(diary.text("\(name) finished")), "
            + "and after-\(name) began after \(diary.text("after-\(name) began"))."
        }
        + [
          "  \(run.counts.cancelled) cancelled, \(run.counts.succeeded) done: the queue is empty."
        ]
    }
  }
}
