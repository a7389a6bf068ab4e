import Foundation
import OperationDashboard
import Operations

/// A part of the screen, which must be used on the UI queue.
private final class Scoreboard: @unchecked Sendable {
  // Safe: behind a lock, so that the scenario has no data race; `UIQueue.check` reports the wrong queue.
  private let lines = Lock<[String]>([])

  func show(_ line: String) {
    UIQueue.check()
    lines.withLock { $0.append(line) }
  }

  var count: Int { lines.withLock { $0.count } }
}

/// An operation whose result is a line for the scoreboard.
private final class Game: ResultOperation<String>, @unchecked Sendable {
  // Safe: constant.
  private let stint: Stint

  init(_ name: String, diary: Diary) {
    stint = Stint("\(name) itself", lasts: .milliseconds(900), steps: 6, diary: diary)
    super.init()
    self.name = name
  }

  override func main() {
    let name = name ?? ""
    stint.completionBlock = { self.finish(.success("\(name) is over")) }
    stint.start()
  }

  override func didCancel() { finish(.failure(CancellationError())) }
}

/// Waits for the completion handlers of the others, which are called after their operations have finished.
private final class Answers: AsyncOperation, @unchecked Sendable {
  // Safe: behind the lock.
  private let missing: Lock<Int>

  init(_ count: Int) {
    missing = Lock(count)
    super.init()
    name = "answers"
  }

  override func main() {}
  override func didCancel() { finish() }

  func oneMore() {
    let isLast = missing.withLock { missing in
      missing -= 1
      return missing == 0
    }
    if isLast { finish() }
  }
}

/// A completion handler that touches the screen off the UI queue is caught; with a result queue it is right.
enum WrongQueue {
  static func perform() throws -> Performance {
    let queue = Performance.queue("wrong-queue", width: 2)
    let diary = Diary()
    let scoreboard = Scoreboard()
    let caught = Lock<[UIQueueViolation]>([])
    let (careless, careful) = (Game("careless", diary: diary), Game("careful", diary: diary))
    let answers = Answers(2)
    careless.result(on: DispatchQueue(label: "background")) { outcome in
      if case .success(let line) = outcome { scoreboard.show(line) }
      answers.oneMore()
    }
    careful.result(on: .main) { outcome in
      if case .success(let line) = outcome { scoreboard.show(line) }
      answers.oneMore()
    }
    answers.addDependency(careless)
    answers.addDependency(careful)
    let feed = QueueFeed(observing: queue)
    try feed.add([careless, careful, answers])
    let begin: @Sendable () -> Void = {
      UIQueue.response = .call { violation in
        caught.withLock { $0.append(violation) }
        answers.log("caught: \(violation)")
      }
    }
    return Performance(feed, whenStarted: begin) { _ in
      let violations = caught.withLock { $0 }
      return [
        "wrong-queue: two completion handlers showed a line each on a scoreboard that belongs to the UI queue.",
        "  UIQueue.check() caught \(violations.count) of the \(scoreboard.count):",
      ] + violations.map { "  \($0)" } + [
        "  careful asked for its answer with result(on: .main), and was right."
      ]
    }
  }
}
