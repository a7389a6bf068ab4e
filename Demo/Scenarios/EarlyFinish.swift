import Foundation
import OperationDashboard
import Operations

/// A naive asynchronous operation: `main` starts the work and returns, and `Operation` takes that for the end.
private final class Forgetful: Operation, @unchecked Sendable {
  // Safe: all is constant.
  private let length: Duration
  private let diary: Diary

  init(_ name: String, lasts length: Duration, diary: Diary) {
    self.length = length
    self.diary = diary
    super.init()
    self.name = name
    completionBlock = { diary.note("\(name) finished") }
  }

  override func main() {
    let (name, diary) = (name ?? "", diary)
    diary.note("\(name) began")
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(length / .milliseconds(1)))) {
      diary.note("\(name) worked")
    }
  }
}

/// An operation that finishes before its work is done, beside one that doesn't.
enum EarlyFinish {
  static func perform() throws -> Performance {
    let queue = Performance.queue("early-finish", width: 2)
    let diary = Diary()
    let forgetful = Forgetful("forgetful", lasts: .milliseconds(1200), diary: diary)
    let careful = Stint("careful", lasts: .milliseconds(1200), diary: diary)
    let readers = [("read-forgetful", forgetful as Operation), ("read-careful", careful)].map { name, source in
      let reader = Stint(name, lasts: .milliseconds(600), steps: 3, diary: diary) { reader in
        let isDone = diary["\(source.name ?? "") worked"] != nil
        if isDone { diary.note("\(name) found it") }
        reader.log(isDone ? "the work is done: there is something to read" : "nothing to read: the work is not done")
      }
      reader.addDependency(source)
      return reader
    }
    let feed = QueueFeed(observing: queue)
    try feed.add([forgetful, careful] + readers)
    return Performance(feed, whenStarted: diary.begin) { _ in
      [
        "early-finish: two operations set the same work of 1.2 s going and return from main; another reads what each made."
      ]
        + ["forgetful", "careful"].map { name in
          var line = "  \(name) finished after \(diary.text("\(name) finished"))"
          line += ", and its work was done after \(diary.text("\(name) worked"))"
          if let finished = diary["\(name) finished"], let worked = diary["\(name) worked"], finished < worked {
            line += ": \(Diary.seconds(worked - finished)) too early"
          }
          let found = diary["read-\(name) found it"] != nil ? "what it came for" : "nothing"
          return line + ". Its reader began after \(diary.text("read-\(name) began")) and found \(found)."
        }
        + [
          "  forgetful leaves its state to Operation, which takes the return of main for the end; careful is an AsyncOperation."
        ]
    }
  }
}
