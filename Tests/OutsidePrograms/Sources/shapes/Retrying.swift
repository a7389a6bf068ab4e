import OperationDashboard

/// Fails as long as it is told to.
final class Flaky: ResultOperation<Int>, @unchecked Sendable {
  // Safe: constant.
  private let fails: Bool

  init(fails: Bool) {
    self.fails = fails
    super.init()
    name = "flaky"
  }

  override func main() { finish(fails ? .failure(CocoaError(.fileNoSuchFile)) : .success(1)) }
}

/// How often the factory was asked.
private final class Attempts: @unchecked Sendable {
  // Safe: behind the lock.
  private let lock = NSLock()
  private var count = 0

  func next() -> Int {
    lock.withLock {
      count += 1
      return count
    }
  }
}

/// Programs that give the dashboard a factory.
let retryingShapes: [String: Shape] = [
  // Fails at first, and succeeds when a person retries it.
  "retry": {
    let dashboard = dashboard { $0.keepOpen = .always }
    let attempts = Attempts()
    dashboard.add(retrying: { Flaky(fails: attempts.next() == 1) })
    let summary = try await dashboard.run()
    print(summary.line)
    return summary.exitStatus
  }
]
