// A program with an OperationQueue of its own, and the dashboard on it: copy this and put your operations in.

import OperationDashboard

/// Asynchronous work: `main` begins it and returns, `finish()` ends it, `didCancel` ends it early.
final class Develop: AsyncOperation, @unchecked Sendable {
  // Safe: constant; all else is AsyncOperation's own.
  private let frames: Int64

  init(_ name: String, frames: Int64) {
    self.frames = frames
    super.init()
    self.name = name
  }

  override func main() {
    log("\(frames) frames to develop")
    develop(0)
  }

  override func didCancel() { finish() }

  private func develop(_ frame: Int64) {
    report(completed: frame, total: frames)
    guard frame < frames, !isFinished else { return finish() }
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(100)) { self.develop(frame + 1) }
  }
}

/// Work that ends with a value or an error; the error's words are the reason that the dashboard shows.
final class Enlarge: ResultOperation<Int>, @unchecked Sendable {
  override func main() {
    guard let paper = Int(ProcessInfo.processInfo.environment["PAPER"] ?? "24") else {
      return finish(.failure(CocoaError(.formatting)))
    }
    finish(.success(paper))
  }
}

let queue = OperationQueue()
queue.name = "darkroom"
queue.maxConcurrentOperationCount = 2

let rolls = (1...4).map { Develop("roll-\($0)", frames: Int64(5 * $0)) }
let sort = BlockOperation { Thread.sleep(forTimeInterval: 0.5) }  // anybody's operation
sort.name = "sort"
for roll in rolls { sort.addDependency(roll) }
let enlarge = Enlarge()
enlarge.name = "enlarge"
enlarge.addDependency(sort)

let dashboard = Dashboard(observing: queue)
dashboard.add(rolls + [sort, enlarge])
let summary = try await dashboard.run()  // until all is done or the person quits

if case .success(let prints)? = enlarge.outcome { print("\(prints) prints") }
exit(summary.exitStatus)
