import Foundation
import Operations

/// An `AsyncOperation` with nothing to do.
final class EmptyOperation: AsyncOperation, @unchecked Sendable {
  // Safe: it has no state of its own.
  override func main() { finish() }
}

/// Whole lives: made, added, run and freed, under our dependency queue and in a queue of Foundation's own.
func measureLives(_ rounds: Int) throws {
  let count = 50_000
  for width in [2, OperationQueue.defaultMaxConcurrentOperationCount] {
    let name = width < 0 ? "no limit" : "two slots"
    // The first round of each does not count.
    for round in 0...rounds {
      let bare = seconds {
        let queue = queue(width)
        for _ in 0..<count { queue.addOperation(BareOperation()) }
        queue.waitUntilAllOperationsAreFinished()
      }
      let fed = try seconds {
        let dependencyQueue = DependencyQueue(feeding: queue(width))
        for _ in 0..<count { try dependencyQueue.add(EmptyOperation()) }
        dependencyQueue.waitUntilAllOperationsAreFinished()
      }
      let bareTogether = seconds {
        let queue = queue(width)
        queue.addOperations((0..<count).map { _ in BareOperation() }, waitUntilFinished: true)
      }
      let fedTogether = try seconds {
        let dependencyQueue = DependencyQueue(feeding: queue(width))
        try dependencyQueue.add((0..<count).map { _ in EmptyOperation() })
        dependencyQueue.waitUntilAllOperationsAreFinished()
      }
      guard round > 0 else { continue }
      tell("bare, one by one, \(name)", bare / Double(count))
      tell("fed, one by one, \(name)", fed / Double(count))
      tell("bare, all at once, \(name)", bareTogether / Double(count))
      tell("fed, all at once, \(name)", fedTogether / Double(count))
    }
  }
}

/// The cost of the states of a life alone: made, started and finished by hand, freed.
func measureStates(_ rounds: Int) {
  let count = 100_000
  for round in 0...rounds {
    let plain = processorSeconds { for _ in 0..<count { withExtendedLifetime(BareOperation()) {} } }
    let tutorial = processorSeconds { for _ in 0..<count { TutorialOperation().start() } }
    let ours = processorSeconds { for _ in 0..<count { EmptyOperation().start() } }
    guard round > 0 else { continue }
    tell("made and freed", plain / Double(count))
    tell("tutorial states", tutorial / Double(count))
    tell("our states", ours / Double(count))
  }
}

func queue(_ width: Int) -> OperationQueue {
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = width
  return queue
}
