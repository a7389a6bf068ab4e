import JobModel
import Screen
import Testing

@testable import Dashboard

/// What is seen of jobs that a cluster executes.
@Suite struct ClusterViewTests {
  private func bench() -> Bench {
    var job = Job.shell("train", "./train")
    let clusterRequest = ClusterRequest(cpus: 8, memory: 16_384, time: .seconds(7200), partition: "short")
    job.work = .shell(ShellWork(.script("./train"), cluster: clusterRequest))
    var run = RunBuilder([job, .shell("here")])
    run.move("train", .ready(for: .cluster(reason: nil)))
    run.move("here", .executing)
    return Bench(run, size: Size(width: 100, height: 40))
  }

  @Test func theReasonOfTheSchedulerIsTheStatus() {
    var bench = bench()
    bench.play { $0.move("train", .ready(for: .cluster(reason: "Resources"))) }
    #expect(bench.frame().text.contains("waits for the cluster: Resources"))
  }

  @Test func theDetailNamesTheJobTheNodesAndTheTerms() {
    var bench = bench()
    bench.select("train")
    bench.press(.enter)
    #expect(bench.frame().text.contains("8 CPUs, 16384 MiB"))
    bench.play {
      $0.state(.jobPlaced(JobID(0), ClusterPlace(id: "12_3", nodes: "node[1-2]")))
      $0.move("train", .executing)
    }
    #expect(bench.frame().text.contains("job 12_3 on node[1-2]"))
  }

  @Test func theTimeInTheClustersQueueIsApartFromTheRunningTime() {
    var bench = bench()
    bench.play {
      $0.at(30)
      $0.move("train", .executing)
    }
    bench.now = .seconds(40)
    bench.select("train")
    bench.press(.enter)
    let text = bench.frame().text
    let times = text.split(separator: "\n").filter { $0.hasSuffix("==") }
    #expect(times.contains { $0.contains("waited for the cluster") })
    #expect(times.contains { $0.contains("running") })
    let bars = times.map { line in line.distance(from: line.startIndex, to: line.firstIndex(of: "=") ?? line.endIndex) }
    #expect(Set(bars).count == 1, "\(times)")
    #expect(bench.model.run[JobID(0)].spent(.forCluster, until: .seconds(40)) == .seconds(30))
  }

  @Test func aControllerThatIsDownIsNamedAboveTheJobs() {
    var bench = bench()
    #expect(!bench.frame().text.contains("controller"))
    bench.play {
      $0.at(10)
      $0.state(.clusterChanged(fault: "Unable to contact slurm controller"))
    }
    #expect(bench.frame().text.contains("The cluster's controller is down since 0:10"))
    bench.play { $0.state(.clusterChanged(fault: nil)) }
    #expect(!bench.frame().text.contains("controller is down"))
  }

  @Test func aStopCountsTheJobsThatTheClusterHas() {
    var bench = bench()
    bench.play {
      $0.at(10)
      $0.state(.stopRequested(.terminate, by: .person))
    }
    #expect(bench.frame().text.contains("Stopping 2 jobs: here and 1 more"))
  }

  @Test func aStoppedRunIsNotLeftWhileTheClusterHasAJobOfIt() {
    var bench = bench()
    bench.play {
      $0.state(.stopRequested(.terminate, by: .person))
      $0.move("here", .cancelled(by: .person))
      $0.state(.clusterChanged(fault: "Unable to contact slurm controller"))
    }
    #expect(bench.effects.isEmpty)
    #expect(bench.frame().text.contains("Stopping 1 job; the cluster's controller is down, and is waited for"))
    bench.play { $0.move("train", .cancelled(by: .person)) }
    #expect(bench.effects == [.leave(.stopped)])
  }

  @Test func theTimelineSaysWhatItDrawsForTheWait() {
    var bench = bench()
    bench.press(.character("3"))
    #expect(bench.frame().text.contains("cluster  "))
  }

  @Test func theForecastMovesOnWhileAllWaitForTheCluster() throws {
    var bench = bench()
    bench.play { $0.move("here", .succeeded(upToDate: false)) }
    let run = bench.model.run
    var path = PathForecast()
    for time in [1, 100] { path.update(run, JobIndex(run), now: .seconds(time), .chain) }
    #expect(try #require(path.forecast).end >= .seconds(100))
  }
}
