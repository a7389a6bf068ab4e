import JobModel

/// Makes the facts of a run of a job graph on slots and pools, without a clock: the same input gives the same facts.
struct SimulatedRun {
  /// How each attempt of a job goes.
  struct Plan {
    var took: [Duration]
    /// Attempts that fail before one succeeds; `.max` for a job that fails for good.
    var failures = 0
    var isUpToDate = false
  }

  private(set) var facts = Facts()
  private let jobs: [Job]
  private let plans: [Plan]
  private let pools: [String: Int]
  private var free: Int
  private var used: [String: Int] = [:]
  private var tries: [Int]
  private var states: [JobState]
  private var ready: [Int] = []
  private var running: [(end: Duration, job: Int)] = []
  private var resting: [(until: Duration, job: Int)] = []
  private var dependents: [[Int]]

  static func facts(
    _ jobs: [(Job, Plan)], name: String = "release", slots: Int, pools: [String: Int] = [:], until end: Duration? = nil
  ) -> Facts {
    var simulation = SimulatedRun(jobs, slots: slots, pools: pools)
    simulation.play(name, slots, end)
    return simulation.facts
  }

  private init(_ jobs: [(Job, Plan)], slots: Int, pools: [String: Int]) {
    (self.jobs, plans, self.pools, free) = (jobs.map(\.0), jobs.map(\.1), pools, slots)
    tries = [Int](repeating: 0, count: jobs.count)
    states = [JobState](repeating: .waiting, count: jobs.count)
    dependents = [[Int]](repeating: [], count: jobs.count)
    for (index, job) in jobs.enumerated() {
      for need in job.0.needs { dependents[need.job.index].append(index) }
    }
  }

  private mutating func play(_ name: String, _ slots: Int, _ end: Duration?) {
    facts.begin(jobs, name: name, slots: slots)
    for job in jobs.indices where jobs[job].needs.isEmpty { makeReady(job) }
    admit()
    while true {
      let next = (running.map(\.end) + resting.map(\.until)).min()
      guard let next, next <= end ?? next else { break }
      facts.now = next
      for (_, job) in running.filter({ $0.end == next }) { finish(job) }
      running.removeAll { $0.end == next }
      let rested = resting.filter { $0.until == next }.map(\.job)
      resting.removeAll { $0.until == next }
      for job in rested { set(job, .ready(for: .slot)) }
      ready += rested
      admit()
    }
    if end == nil { facts.state(.runFinished(RunSummary(of: facts.run))) }
  }

  private mutating func set(_ job: Int, _ state: JobState) {
    states[job] = state
    facts.job(job, state, attempt: tries[job])
  }

  private mutating func makeReady(_ job: Int) {
    if plans[job].isUpToDate {
      set(job, .succeeded(upToDate: true))
      settle(job)
    } else {
      set(job, .ready(for: .slot))
      ready.append(job)
    }
  }

  private mutating func admit() {
    var held: [Int] = []
    for job in ready {
      let full = jobs[job].uses.first { (used[$0.key] ?? 0) + $0.value > (pools[$0.key] ?? .max) }?.key
      guard free > 0, full == nil else {
        if let full, states[job] == .ready(for: .slot) { set(job, .ready(for: .pool(full))) }
        held.append(job)
        continue
      }
      free -= 1
      for (pool, units) in jobs[job].uses { used[pool, default: 0] += units }
      tries[job] += 1
      set(job, .executing)
      facts.log(job, "attempt \(tries[job]) of \(jobs[job].name)", attempt: tries[job])
      running.append((facts.now + plans[job].took[min(tries[job], plans[job].took.count) - 1], job))
    }
    ready = held
  }

  private mutating func finish(_ job: Int) {
    free += 1
    for (pool, units) in jobs[job].uses { used[pool, default: 0] -= units }
    guard tries[job] <= plans[job].failures else {
      set(job, .succeeded(upToDate: false))
      return settle(job)
    }
    facts.log(
      job, "\u{1B}[31merror:\u{1B}[0m \(jobs[job].name) could not be <done> & \"said\" so", .stderr, attempt: tries[job]
    )
    let failure = JobFailure(.exit(2), "exit 2")
    if tries[job] <= jobs[job].retry.max {
      let until = facts.now + .seconds(2)
      set(job, .backingOff(until: until, number: tries[job], limit: jobs[job].retry.max, after: failure))
      resting.append((until, job))
    } else {
      set(job, .failed(failure, allowed: jobs[job].allowFailure))
      settle(job)
    }
  }

  private mutating func settle(_ job: Int) {
    for next in dependents[job] where states[next] == .waiting {
      if jobs[next].needs.contains(where: { $0.when.isRuledOut(by: states[$0.job.index]) }) {
        set(next, .skipped(because: .job(JobID(job))))
        settle(next)
      } else if jobs[next].needs.allSatisfy({ $0.when.isMet(by: states[$0.job.index]) }) {
        makeReady(next)
      }
    }
  }
}

extension Facts {
  /// A release of twenty jobs with retries, a failure, pools, a job that is up to date and names that need escaping.
  static var release: Facts {
    func job(
      _ name: String, _ needs: [Int] = [], _ took: Double, failing: Int = 0, retry: Int = 0, uses: [String: Int] = [:],
      allowed: Bool = false, isUpToDate: Bool = false, usual: Double? = nil
    ) -> (Job, SimulatedRun.Plan) {
      let usual = usual.map {
        UsualTime(median: .seconds($0), ninetieth: .seconds($0 * 1.2), count: 9, failures: failing > 0 ? 3 : 0)
      }
      return (
        Job(
          name: name, work: .shell(ShellWork(.script(name))), needs: needs.map { JobNeed(JobID($0)) }, uses: uses,
          retry: RetryPolicy(max: retry), allowFailure: allowed, usual: usual),
        SimulatedRun.Plan(took: [.seconds(took)], failures: failing, isUpToDate: isUpToDate)
      )
    }
    let jobs = [
      job("checkout", [], 3.2), job("toolchain", [0], 1, isUpToDate: true),
      job("fetch sdk", [0], 21.5, uses: ["net": 1]),
      job("fetch data", [0], 14, failing: 1, retry: 2, uses: ["net": 1]),
      job("lint", [0], 9.4, failing: 1, allowed: true),
      job("build[linux,x64]", [1, 2], 48, usual: 33), job("build[linux,arm64]", [1, 2], 56, usual: 55),
      job("build[mac,arm64]", [1, 2], 39, usual: 45), job("unit[linux]", [5, 6], 34.5), job("unit[mac]", [7], 27),
      job("<script>alert(1)</script>", [3], 12), job("a & b \"quoted\" 'too'", [3], 7.7),
      job("bidi \u{202E}gnp.exe", [3], 5), job("integration[linux]", [8, 10], 62, failing: 2, retry: 2, usual: 40),
      job("integration[mac]", [9, 11], 44, failing: .max, retry: 1), job("package[linux]", [13], 11),
      job("package[mac]", [14], 10), job("docs", [0], 25), job("sign", [15, 16], 4), job("publish", [18, 17], 8),
    ]
    return SimulatedRun.facts(jobs, slots: 4, pools: ["net": 1])
  }

  /// Layers of builds whose times are skewed; some are tried again, one of two hundred fails.
  static func layered(_ count: Int, width: Int, slots: Int, seed: UInt64 = 1) -> Facts {
    var state = seed
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    let jobs = (0..<count).map { index -> (Job, SimulatedRun.Plan) in
      let layer = index / width
      let needs = layer == 0 ? [] : Set((0..<3).map { _ in (layer - 1) * width + random(width) }).sorted()
      let kind = ["compile", "link", "test", "pack"][layer % 4]
      let job = Job(
        name: "\(kind)-\(index)", work: .shell(ShellWork(.script("make"))), needs: needs.map { JobNeed(JobID($0)) },
        retry: RetryPolicy(max: 2))
      let took = Duration.milliseconds(300 + random(20) * random(20) * random(40))
      let failures = random(3000) == 0 ? 9 : random(30) == 0 ? 1 : 0
      return (job, SimulatedRun.Plan(took: [took], failures: failures))
    }
    return SimulatedRun.facts(jobs, name: "layered", slots: slots)
  }
}
