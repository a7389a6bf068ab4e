import Foundation
import OperationDashboard

/// What a served queue costs while nobody is attached: for each operation, and in times that a thread wakes up.
func measureServed(_ rounds: Int) throws {
  let count = 50_000
  // The first round does not count.
  for round in 0...rounds {
    let plain = try lives(of: count, in: queue(2), nil)
    let own = queue(2)
    let dashboard = Dashboard(observing: own)
    let service = try dashboard.serve()
    let served = try lives(of: count, in: own, nil)
    let added = try lives(of: count, in: own, dashboard)
    let before = wakes()
    let time: UInt32 = 5
    sleep(time)
    // This thread has woken once.
    let idle = wakes() - before - 1
    service.stop()
    guard round > 0 else { continue }
    tell("under a dependency queue", plain / Double(count))
    tell("under a dependency queue, served", served / Double(count))
    tell("added to the served dashboard", added / Double(count))
    tell("wakes", Double(max(0, idle)) / Double(time))
  }
}

/// Processor time of all threads for operations that are added to a dependency queue of the queue, or to the dashboard.
private func lives(of count: Int, in queue: OperationQueue, _ dashboard: Dashboard?) throws -> Double {
  let dependencyQueue = DependencyQueue(feeding: queue)
  let began = processTime()
  if let dashboard {
    for _ in 0..<count { dashboard.add(EmptyOperation()) }
    queue.waitUntilAllOperationsAreFinished()
  } else {
    for _ in 0..<count { try dependencyQueue.add(EmptyOperation()) }
    dependencyQueue.waitUntilAllOperationsAreFinished()
  }
  return processTime() - began
}

private func processTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// How often threads of this process have stopped to wait.
private func wakes() -> Int {
  let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
  return tasks.reduce(0) { sum, task in
    let status = (try? String(contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
    return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
  }
}
