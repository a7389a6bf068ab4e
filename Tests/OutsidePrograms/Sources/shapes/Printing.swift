import OperationDashboard

/// Programs that write to standard output and standard error while the dashboard has the terminal, which the test tells them.
let printingShapes: [String: Shape] = [
  // A few lines to both streams, one of them in two parts.
  "print": {
    print("before the dashboard")
    let dashboard = dashboard()
    dashboard.add(
      block("talk") {
        waitForTest("START")
        print("one to standard output")
        complain("two to standard error\n")
        print("three, in two ", terminator: "")
        print("parts")
        NSLog("four by NSLog")
        perror("five by the C library")
        waitForTest("GO")
      })
    try await dashboard.run()
    print("after the dashboard")
    return 0
  },

  // Ten thousand lines, every other one to standard error.
  "print-many": {
    let dashboard = dashboard()
    dashboard.add(
      block("talk") {
        waitForTest("START")
        for number in 0..<10_000 {
          if number.isMultiple(of: 2) { print("line \(number)") } else { complain("line \(number)\n") }
        }
      })
    try await dashboard.run()
    return 0
  },

  // A line every 50 ms.
  "suspend": {
    let dashboard = dashboard()
    dashboard.add(
      block("talk") {
        waitForTest("START")
        let path = ProcessInfo.processInfo.environment["GO"] ?? "/"
        var number = 0
        while !FileManager.default.fileExists(atPath: path) {
          print("tick \(number).")
          number += 1
          Thread.sleep(forTimeInterval: 0.05)
        }
      })
    return try await dashboard.run().exitStatus
  },

  "print-crash": {
    let dashboard = dashboard()
    dashboard.add(
      block("talk") {
        waitForTest("START")
        print("printed before the crash")
        waitForTest("GO")
        fatalError("the reason of the crash")
      })
    try await dashboard.run()
    return 0
  },

  "print-exit": {
    let dashboard = dashboard()
    dashboard.add(
      block("talk") {
        waitForTest("START")
        print("printed before the exit")
        print("and half a line", terminator: "")
        waitForTest("GO")
        exit(7)
      })
    try await dashboard.run()
    return 0
  },

  // A child that has inherited the streams and writes when the dashboard has gone.
  "print-child": {
    let dashboard = dashboard()
    dashboard.add(
      block("talk") {
        waitForTest("START")
        let child = Process()
        child.executableURL = URL(filePath: "/bin/sh")
        let script = """
          echo early from the child
          while [ ! -e "$END" ]; do sleep 0.05; done
          echo late from the child
          """
        child.arguments = ["-c", script]
        try? child.run()
        waitForTest("GO")
      })
    try await dashboard.run()
    print("the dashboard has ended")
    waitForTest("LEAVE")
    return 0
  },
]
