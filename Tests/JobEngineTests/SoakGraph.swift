import Basics
import JobModel

extension JobGraph {
  /// Pools, matrices, conditions, services, retries, approvals and jobs of `finally`, each job with needs near before it.
  static func soak(_ count: Int, _ random: inout SplitMix) -> JobGraph {
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    let pools = Dictionary(
      uniqueKeysWithValues: ["a", "b", "c", "d"].map { ($0, Int.random(in: 2...12, using: &random)) })
    let finals = count - 8
    var services: [Int] = []
    let jobs = (0..<count).map { index in
      let isFinal = index >= finals
      var job = Job(name: "j\(index)", work: .simulate(SimulatedWork()))
      if isFinal { job.finally = [.ok, .failed, .always].randomElement(using: &random) }
      let nearest = isFinal ? finals : max(0, index - 40)
      for need in nearest..<index where !services.contains(need) && chance(isFinal ? 20 : 4) {
        let conditions: [JobNeed.Condition] = [.ok, .ok, .ok, .ok, .finished, .finished, .failed, .notOK, .anyFailed]
        job.needs.append(JobNeed(JobID(need), when: conditions.randomElement(using: &random) ?? .ok))
      }
      if let service = services.suffix(4).randomElement(using: &random), chance(15) {
        job.needs.append(JobNeed(JobID(service), when: .ready))
      }
      if !isFinal, chance(3) {
        let restart = Service.Restart.allCases.randomElement(using: &random) ?? .never
        let probe: Service.Probe? = chance(80) ? .output("ready") : nil
        job.work = .shell(
          ShellWork(.script("serve"), service: Service(probe: probe, limit: .seconds(10), restart: restart)))
        services.append(index)
      } else {
        if chance(5) { job.work = .shell(ShellWork(.script("work"), silence: .seconds(5))) }
        if chance(20) { job.timeout = .seconds(4) }
        for (pool, size) in pools.sorted(by: { $0.key < $1.key }) where chance(15) {
          job.uses[pool] = Int.random(in: 1...(chance(20) ? size : min(3, size)), using: &random)
        }
      }
      if chance(2) { job.approval = "Go on?" }
      if chance(5) {
        // On a value of the first job that it needs, else on a word.
        let need = job.needs.first
        if let need { job.outputs = [OutputReference("${v}", job: need.job, name: "v")] }
        job.condition = JobCondition("", [[.init(need == nil ? "yes" : "${v}", equals: chance(80) ? "yes" : "no")]])
      }
      if chance(40) {
        job.retry = RetryPolicy(
          max: Int.random(in: 1...3, using: &random), backoff: chance(50) ? .constant : .exponential,
          jitter: chance(50),
          only: chance(30) ? [.network, .timeout] : nil, exits: chance(10) ? [1] : [], patterns: chance(10) ? ["x"] : []
        )
      }
      job.allowFailure = chance(15)
      job.priority = chance(30) ? JobPriority.allCases.randomElement(using: &random) ?? .normal : .normal
      if chance(60) { job.matrix = "m\(index / 10)" }
      if chance(70) {
        let time = Duration.milliseconds(Int.random(in: 50...6000, using: &random))
        job.usual = UsualTime(median: time, ninetieth: time * 2, count: 3)
      }
      return job
    }
    return JobGraph(
      name: "soak", jobs: jobs, slots: Int.random(in: 2...16, using: &random),
      onFailure: chance(80) ? .keepGoing : chance(50) ? .finishRunning : .stopNow,
      schedule: Schedule.allCases.randomElement(using: &random) ?? .fifo, pools: pools)
  }
}
