import Basics
import Foundation
import JobModel
import Testing

@testable import JobEngine

/// How long runs take in each schedule, in simulated time: every job takes its usual time.
struct ScheduleLengthTests {
  /// The length in the order of the critical path as a share of that in the order of the file, for each graph.
  private func shares(_ seeds: Range<UInt64>, _ make: (inout SplitMix) -> JobGraph) -> [Double] {
    seeds.map { seed in
      var random = SplitMix(seed: seed)
      let graph = make(&random)
      return length(of: graph, .criticalPath) / length(of: graph, .fifo)
    }.sorted()
  }

  @Test func theCriticalPathIsNeverMuchSlowerThanTheOrderOfTheFile() throws {
    let shares = shares(0..<1000) { .random(&$0) }
    #expect(try #require(shares.last) <= 1.02)
    // Else the orders could be the same.
    #expect(shares[500] < 0.98)
  }

  @Test func inLayersOfSkewedDurationsTheCriticalPathIsATenthFaster() throws {
    let shares = shares(0..<200) { .layers(&$0) }
    #expect(shares[shares.count / 2] <= 0.90)
    #expect(try #require(shares.last) <= 1.02)
  }
}

/// Plays a run in which every attempt takes the usual time of its job.
private func length(of graph: JobGraph, _ schedule: JobGraph.Schedule) -> Duration {
  struct End: Comparable {
    var time: Duration
    var ticket: Int
    static func < (left: End, right: End) -> Bool { (left.time, left.ticket) < (right.time, right.ticket) }
  }

  var graph = graph
  graph.schedule = schedule
  let journal = RunJournal()
  var scheduler = Scheduler(graph, journal: journal)
  var queued: [Admission] = []
  var executing = Heap<End>()
  scheduler.start(runStart(graph, slots: graph.slots ?? 4))
  while true {
    for action in scheduler.takeActions() {
      switch action {
      case .admit(let admission): queued.append(admission)
      case .withdraw(let ticket):
        guard let index = queued.firstIndex(where: { $0.ticket == ticket }) else { continue }
        queued.remove(at: index)
        scheduler.attemptWithdrawn(ticket: ticket)
      default: break
      }
    }
    if scheduler.hasActions { continue }
    _ = journal.takeEvents()
    while executing.count < graph.slots ?? 4, !queued.isEmpty {
      let admission = queued.removeFirst()
      let time = graph[admission.job].usual?.median ?? .seconds(1)
      executing.push(End(time: journal.now + time, ticket: admission.ticket))
      scheduler.attemptStarted(ticket: admission.ticket, pid: nil)
    }
    if scheduler.hasActions { continue }
    guard let end = executing.pop() else { return journal.now }
    journal.advance(to: end.time)
    scheduler.attemptEnded(ticket: end.ticket, .succeeded)
  }
}

extension JobGraph {
  private static func job(_ index: Int, _ needs: [Int], _ seconds: Double) -> Job {
    let time = Duration.milliseconds(Int(seconds * 1000) + 1)
    return Job(
      name: "j\(index)", work: .shell(ShellWork(.script("x"))), needs: needs.map { JobNeed(JobID($0)) },
      usual: UsualTime(median: time, ninetieth: time, count: 5))
  }

  /// Any shape, from no needs to a chain, and any spread of durations.
  fileprivate static func random(_ random: inout SplitMix) -> JobGraph {
    let count = Int.random(in: 10...150, using: &random)
    let reach = Int.random(in: 2...count, using: &random)
    let density = 3 * random.unit() / Double(reach)
    let skew = 4 * random.unit()
    let jobs = (0..<count).map { index in
      let needs = (max(0, index - reach)..<index).filter { _ in random.unit() < density }
      return job(index, needs, exp(skew * random.unit()))
    }
    return JobGraph(name: "random", jobs: jobs, slots: Int.random(in: 2...12, using: &random))
  }

  /// Layers of equal width; each job needs one of the layer before, and a few take much longer than the others.
  fileprivate static func layers(_ random: inout SplitMix) -> JobGraph {
    let width = Int.random(in: 16...32, using: &random)
    let depth = Int.random(in: 5...12, using: &random)
    let jobs = (0..<width * depth).map { index in
      let layer = index / width
      let needs = layer == 0 ? [] : [(layer - 1) * width + Int.random(in: 0..<width, using: &random)]
      // Pareto with the exponent 1: half take less than two seconds, a tenth more than ten.
      return job(index, needs, min(60, 1 / (1 - random.unit())))
    }
    return JobGraph(name: "layers", jobs: jobs, slots: Int.random(in: 4...8, using: &random))
  }
}
