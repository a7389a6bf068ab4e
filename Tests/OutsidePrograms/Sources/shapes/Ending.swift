import OperationDashboard

/// Programs that end the dashboard, or want two.
let endingShapes: [String: Shape] = [
  // A second dashboard while the first is shown, and a third when it has ended.
  "two": {
    let waiting = Waiting("waiting")
    let first = dashboard()
    first.add(waiting)
    let run = Task { try await first.run() }
    let second = dashboard()
    var words = "not refused"
    await Task.detached { waitForTest("START") }.value
    do { _ = try await second.run() } catch { words = "\(error)" }
    await Task.detached { waitForTest("GO") }.value
    waiting.finish()
    let summary = try await run.value
    let third = dashboard()
    third.add(Lasting("third", seconds: 0.2))
    let last = try await third.run()
    print("second: \(words)")
    print("first: \(summary.line)")
    print("third: \(last.line)")
    return 0
  },

  // stop() with an operation that executes and one that waits.
  "stop": {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let dashboard = dashboard(on: queue)
    dashboard.add([Waiting("a"), Waiting("b")])
    Task.detached {
      waitForTest("GO")
      dashboard.stop()
    }
    let summary = try await dashboard.run()
    print("stopped")
    print(summary.line)
    return summary.exitStatus
  },
]
