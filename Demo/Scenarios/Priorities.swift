import Foundation
import JobModel
import OperationDashboard

/// Operations of different priority that become ready at the same time.
enum Priorities {
  static func perform() throws -> Performance {
    let queue = Performance.queue("priorities", width: 1)
    let diary = Diary()
    let first = Stint("first", lasts: .milliseconds(900), steps: 6, diary: diary)
    let levels: [(String, Operation.QueuePriority)] = [
      ("very-low", .veryLow), ("low", .low), ("normal", .normal), ("high", .high), ("very-high", .veryHigh),
      ("low-at-first", .low),
    ]
    let waiting = levels.map { name, priority in
      let stint = Stint(name, lasts: .milliseconds(450), steps: 3, diary: diary)
      stint.queuePriority = priority
      stint.addDependency(first)
      return stint
    }
    let feed = QueueFeed(observing: queue)
    try feed.add([first] + waiting)
    let promoted = JobID(waiting.count)
    let begin: @Sendable () -> Void = {
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(450)) {
        // The command that the key sends.
        feed.send(.setPriority([promoted], .high))
      }
    }
    return Performance(feed, whenStarted: begin) { run in
      let started = run.jobs.filter { $0.attempt != nil }
        .sorted { ($0.attempt?.startedAt ?? .zero) < ($1.attempt?.startedAt ?? .zero) }
      let order = started.dropFirst().map { "\($0.job.name) (\($0.job.priority.rawValue))" }
      let isStrict = zip(started.dropFirst(), started.dropFirst(2)).allSatisfy { $0.job.priority >= $1.job.priority }
      return [
        "priorities: six operations became ready at once, in a queue that runs one at a time.",
        "  Added: \(levels.map(\.0).joined(separator: ", ")).",
        "  Went:  \(order.joined(separator: ", ")).",
        "  The highest queuePriority went first\(isStrict ? " every time" : ", but not every time"); "
          + "low-at-first was raised to high while it waited.",
      ]
    }
  }
}
