import Basics
import Foundation
import JobModel
import Testing

@testable import Dashboard

/// How far the estimate of a run is off, over simulated runs of random graphs.
struct EstimateErrorTests {
  /// A graph in layers, its jobs' times in this run and their starts and ends.
  private struct Simulation {
    var jobs: [Job] = []
    var times: [Double] = []
    var slots = 0
    /// Starts and ends of jobs in the order in which they happen.
    var moves: [(time: Double, job: Int, isStart: Bool)] = []
    var end: Double { moves.last?.time ?? 0 }

    /// The times of the jobs are log-normal, those of one job differ by a fifth between runs.
    init(seed: UInt64) {
      var random = SplitMix(seed: seed)
      func unit() -> Double { random.unit() }
      func whole(_ range: ClosedRange<Int>) -> Int { range.lowerBound + Int(unit() * Double(range.count)) }
      let (layers, width) = (whole(3...8), whole(4...16))
      slots = whole(2...8)
      for place in 0..<(layers * width) {
        let below = place / width * width - width
        let needs = below < 0 ? [] : Set((0..<whole(1...3)).map { _ in below + whole(0...(width - 1)) })
        let skewed = 20 * exp((-2 * log(1 - unit())).squareRoot() * cos(2 * .pi * unit()))
        func time() -> Double { skewed * (0.8 + 0.4 * unit()) }
        var job = Job.shell("\(place)", needs: needs.sorted().map { JobNeed(JobID($0)) })
        job.usual = UsualTime(
          (0..<12).map { RecordedEnd(run: "\($0)", outcome: .succeeded, took: .seconds(time())) })
        jobs.append(job)
        times.append(time())
      }
      play()
    }

    private mutating func play() {
      let ranks = CriticalPath.ranks(of: JobGraph(name: "g", jobs: jobs))
      let order = jobs.indices.sorted { (ranks[$1], $0) < (ranks[$0], $1) }
      var (done, started, now) = (Set<Int>(), Set<Int>(), 0.0)
      var running: [(end: Double, job: Int)] = []
      while done.count < jobs.count {
        for job in order where running.count < slots && !started.contains(job) {
          guard jobs[job].needs.allSatisfy({ done.contains($0.job.index) }) else { continue }
          started.insert(job)
          running.append((now + times[job], job))
          moves.append((now, job, true))
        }
        running.sort { $0.end < $1.end }
        let next = running.removeFirst()
        now = next.end
        done.insert(next.job)
        moves.append((now, next.job, false))
      }
    }

    /// The share by which the estimate at `now` is off, and whether the end is in its range.
    func error(at now: Double) -> (share: Double, isInside: Bool)? {
      var builder = RunBuilder(jobs, slots: slots)
      for move in moves where move.time <= now {
        builder.time = .seconds(move.time)
        builder.move("\(move.job)", move.isStart ? .executing : .succeeded(upToDate: false))
      }
      let left = Estimate(builder.run, JobIndex(builder.run), now: .seconds(now))?.left
      return left.map {
        let truth = Duration.seconds(end - now)
        return (abs($0.middle / truth - 1), $0.soonest <= truth && truth <= $0.latest)
      }
    }
  }

  @Test func withHistoryHalfOfTheEstimatesAreOffByLessThanAnEighth() throws {
    let runs = (0..<60).map { Simulation(seed: UInt64($0)) }
    for share in [0, 0.25, 0.5, 0.75] {
      // Every run has an estimate, from its first second.
      let errors = try runs.map { try #require($0.error(at: $0.end * share + 0.001)) }
      let median = errors.map(\.share).sorted()[errors.count / 2]
      let inside = errors.count { $0.isInside }
      #expect(median < 1.0 / 8, "at \(share): \(median), \(inside) of \(errors.count) in the range")
      #expect(inside * 5 > errors.count * 2, "at \(share): \(inside) of \(errors.count) in the range")
    }
  }
}
