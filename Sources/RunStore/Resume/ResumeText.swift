import Foundation
import JobModel

/// The messages before a resumed run starts.
package enum ResumeText {
  /// The most jobs that are named for one reason.
  private static let most = 8

  /// One line for the run, then one for each reason why jobs are executed again that the person may not know of.
  package static func lines(_ plan: ResumePlan, of entry: RunEntry, at now: Date = Date()) -> [String] {
    let age = ago(.seconds(max(0, now.timeIntervalSince(entry.startedAt))))
    let done = plan.restored.count
    let all = "\(Format.count(done, "job")) \(done == 1 ? "is" : "are") done, \(plan.again.count) to do"
    var lines = ["resuming \(entry.id) of \(age): \(all)"]
    let byReason = Dictionary(grouping: plan.again, by: \.reason)
    for (reason, words) in words {
      guard let jobs = byReason[reason] else { continue }
      lines.append("\(words): \(names(jobs.map { plan.graph[$0.job].name }))")
    }
    if !plan.removed.isEmpty { lines.append("no longer in the file: \(names(plan.removed))") }
    if !plan.leftOut.isEmpty { lines.append("not failed, so left out: \(names(plan.leftOut))") }
    return lines
  }

  /// Jobs that the earlier run had not begun or had skipped need no explanation.
  private static let words: [(ResumePlan.Reason, String)] = [
    (.failed, "failed"),
    (.executing, "running when it ended"),
    (.cancelled, "cancelled"),
    (.changed, "changed in the file"),
    (.inputsChanged, "inputs changed"),
    (.outputMissing, "what it creates is gone"),
    (.valuesMissing, "the values that other jobs read are not recorded"),
    (.needed, "needs a job that has changed"),
    (.used, "needed again"),
    (.new, "new in the file"),
  ]

  private static func names(_ names: [String]) -> String {
    names.joined(most: names.count > most + 1 ? most : names.count)
  }

  /// `12 minutes ago`, in the largest unit that is not zero.
  package static func ago(_ age: Duration) -> String {
    let units: [(String, Int64)] = [("day", 86_400), ("hour", 3600), ("minute", 60)]
    let seconds = age.components.seconds
    let (noun, length) = units.first { seconds >= $0.1 } ?? ("second", 1)
    return "\(Format.count(Int(seconds / length), noun)) ago"
  }

  /// The answer for a run without work left.
  package static func nothingLeft(of entry: RunEntry, onlyFailed: Bool) -> String {
    onlyFailed ? "no job of run \(entry.id) has failed: nothing is run" : "nothing is left to do of run \(entry.id)"
  }

  /// The note where a later run has gone on with the named one, and is resumed in its place.
  package static func isResumed(_ entry: RunEntry, by newest: RunEntry) -> String {
    "run \(entry.id) was resumed already: its newest resumption, run \(newest.id), is resumed"
  }

  /// The refusal for a run in progress.
  package static func goesOn(_ entry: RunEntry, isHere: Bool) -> String {
    let place = isHere ? ", process \(entry.process.pid)" : ", on another machine or in another container"
    return "run \(entry.id) is going on\(place): opdash resume waits for its end"
  }

  /// The refusal for a run that another process is about to resume.
  package static func isTaken(_ entry: RunEntry) -> String {
    "another opdash is going on with run \(entry.id): `opdash history` lists it"
  }

  /// The refusal where processes of the earlier run do not end.
  package static func processesLeft(_ pids: [Int32], of entry: RunEntry) -> String {
    let list = names(pids.map(String.init))
    return "processes of run \(entry.id) do not end: \(list); nothing was started, so that no job runs twice"
  }
}
