import OperationDashboard

/// Programs whose operations enter the queue by every door.
let queueShapes: [String: Shape] = [
  // An operation enters the queue after the dashboard was made and before it runs.
  "late": {
    let queue = OperationQueue()
    let dashboard = dashboard(on: queue)
    queue.addOperation(block("late") { waitForTest("GO") })
    let summary = try await dashboard.run()
    print(summary.line)
    return summary.exitStatus
  },

  // One by the dashboard, and another by the queue while the first executes.
  "door": {
    let queue = OperationQueue()
    let dashboard = dashboard(on: queue)
    dashboard.add(
      block("by-dashboard") {
        waitForTest("START")
        queue.addOperation(block("by-queue") { waitForTest("GO") })
      })
    let summary = try await dashboard.run()
    print(summary.line)
    return summary.exitStatus
  },

  // One of our own operations enters the queue itself while another executes.
  "ours-late": {
    let queue = OperationQueue()
    let dashboard = dashboard(on: queue)
    dashboard.add(
      block("first") {
        waitForTest("GO")
        queue.addOperation(Lasting("ours", seconds: 0.3))
      })
    let summary = try await dashboard.run()
    print(summary.line)
    return summary.exitStatus
  },

  // A group of two; the dashboard stays open.
  "group": {
    let dashboard = dashboard { $0.keepOpen = .always }
    let group = GroupOperation([Lasting("child-1", seconds: 1), Lasting("child-2", seconds: 2)])
    group.name = "group"
    dashboard.add([group])
    let summary = try await dashboard.run()
    print(summary.line)
    return summary.exitStatus
  },
]
