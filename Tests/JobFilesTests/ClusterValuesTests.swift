import JobFiles
import JobModel
import Testing

/// The keys `on` and `slurm`.
struct ClusterValuesTests {
  private func work(_ body: String, head: String = "") throws -> ShellWork {
    guard case .shell(let work) = try job("run: ./train\n" + body, head: head).work else { throw NoShell() }
    return work
  }

  private struct NoShell: Error {}

  @Test func aJobIsExecutedHereUnlessItSaysOtherwise() throws {
    #expect(try work("").engine == .local)
    #expect(try work("on: local").cluster == nil)
    #expect(try work("on: slurm").cluster == ClusterRequest())
    #expect(try work("slurm: { cpus: 2 }").cluster == nil)
    #expect(try work("slurm: { cpus: 2 }").clusterRequest == ClusterRequest(cpus: 2))
  }

  @Test func everyTermIsRead() throws {
    let clusterRequest = try work(
      """
      on: slurm
      slurm:
        name: train it
        cpus: 8
        memory: 16G
        gpus: 1
        nodes: 2
        time: 1h30m
        partition: short,long
        account: lab
        qos: low
        constraint: fast&ssd
        options: [--exclusive, --gres=gpu:a100:2]
      """
    ).cluster
    #expect(
      clusterRequest
        == ClusterRequest(
          name: "train it", cpus: 8, memory: 16 << 10, gpus: 1, nodes: 2, time: .seconds(5400),
          partition: "short,long", account: "lab", qos: "low", constraint: "fast&ssd",
          options: ["--exclusive", "--gres=gpu:a100:2"]))
  }

  @Test(arguments: [
    ("500M", 500), ("16G", 16 << 10), ("1T", 1 << 20), ("16 GB", 16 << 10), ("2GiB", 2048), ("512k", 1),
    ("2048k", 2), ("1023K", 1), ("16mb", 16), ("1M", 1), ("0", 0), ("0G", 0),
  ])
  func memoryHasAUnit(text: String, megabytes: Int) throws {
    #expect(try work("on: slurm\nslurm: { memory: \(text) }").cluster?.memory == megabytes)
  }

  @Test func optionsReplaceThoseOfTheFile() throws {
    let head = "on: slurm\nslurm: { options: [--exclusive] }"
    #expect(try work("slurm: { options: [--nice] }", head: head).clusterRequest.options == ["--nice"])
    #expect(try work("slurm: { options: [] }", head: head).clusterRequest.options == ["--exclusive"])
  }

  @Test func termsComeFromTheJobThenTheDefaultsThenTheFile() throws {
    let head = """
      on: slurm
      slurm: { partition: short, time: 2h, cpus: 1, options: [--exclusive] }
      defaults: { slurm: { cpus: 2, memory: 1G } }
      """
    #expect(
      try work("slurm: { memory: 4G }", head: head).cluster
        == ClusterRequest(
          cpus: 2, memory: 4096, time: .seconds(7200), partition: "short", options: ["--exclusive"]))
    #expect(try work("on: local", head: head).cluster == nil)
    #expect(try work("", head: "defaults: { on: slurm }").cluster == ClusterRequest())
  }

  @Test func whatCannotLeaveTheMachineStays() throws {
    #expect(try work("service: true", head: "on: slurm").engine == .local)
    #expect(try work("tty: true", head: "on: slurm").engine == .local)
    let graph = try graph("on: slurm\njobs: { a: { download: http://h/x }, b: { simulate: {} }, c: { run: ls } }")
    #expect(graph.jobs.map { $0.cluster != nil } == [false, false, true])
    #expect(graph.executed(by: .local).jobs.allSatisfy { $0.cluster == nil })
  }

  @Test func aJobOnSlurmIsNotExecutedHereBecauseOfTheDefaults() throws {
    let head = "defaults: { tty: true }\n"
    #expect(
      faults(job: "run: ls, on: slurm", head: head) == [
        "3:17: a job of a cluster has no terminal, and 'defaults' gives it one: write 'tty: false', or 'on: local'"
      ])
    #expect(try work("on: slurm\ntty: false", head: head).engine == .cluster)
    #expect(try work("on: local", head: head).hasTerminal)
    // One message each: that of its own key.
    #expect(faults(job: "run: ls, on: slurm, tty: true", head: head).count == 1)
    #expect(faults(job: "run: ls, on: slurm, service: true", head: head).count == 1)
    #expect(faults(job: "download: http://h/x, on: slurm", head: head).count == 1)
  }

  @Test func theCommandLineDecidesForAllJobs() throws {
    let graph = try graph("jobs: { a: { run: ls, slurm: { cpus: 2 } }, b: { run: ls, service: true } }")
    #expect(graph.executed(by: .cluster).jobs.map(\.cluster) == [ClusterRequest(cpus: 2), nil])
  }

  @Test func theCausesOfAClusterCanBeRetried() throws {
    let job = try job("run: ls\nretry: { max: 1, only: [out-of-memory, time-limit, node-failure, preempted, lost] }")
    #expect(job.retry.only == [.outOfMemory, .timeLimit, .nodeFailure, .preempted, .lost])
  }

  @Test(arguments: [
    ("run: ls, on: slrum", "2:21: on takes local or slurm; this is 'slrum': did you mean 'slurm'?"),
    ("download: http://h/x, on: slurm", "2:30: 'on' is for run jobs; this is a download: delete it"),
    (
      "run: ls, on: slurm, service: true",
      "2:17: a service runs on this machine, beside the jobs that need it, so it can't be on slurm: delete it"
    ),
    (
      "run: ls, on: slurm, tty: true",
      "2:28: a job of a cluster has no terminal: delete 'tty', or write 'on: local'"
    ),
    (
      "run: ls, slurm: { memory: 16 }",
      "2:34: slurm.memory takes an amount as 500M, 16G or 1T, or 0 for all of the node; this is '16': "
        + "write 16G, or 16M"
    ),
    (
      "run: ls, slurm: { memory: -1G }",
      "2:34: slurm.memory takes an amount as 500M, 16G or 1T, or 0 for all of the node; this is '-1G'"
    ),
    (
      "run: ls, slurm: { time: 0 }",
      "2:32: slurm.time takes a duration longer than 0; this is '0': delete it for no limit"
    ),
    (
      "run: ls, slurm: { options: ['--a b'] }",
      "2:36: slurm.options takes options of sbatch, as in '[--exclusive]'; this is '--a b': "
        + "write each as one word that begins with '--'"
    ),
    ("run: ls, on: push", "2:21: 'on' takes local or slurm, and opdash starts when you start it: delete it"),
    ("run: ls, slurm: { time: 1:00:00 }", "2:32: '1:00:00' is not a duration: write 1h"),
    ("run: ls, slurm: { time: 1-12:30 }", "2:32: '1-12:30' is not a duration: write 36h30m"),
    ("run: ls, slurm: { mem: 16G }", "2:26: unknown key 'mem': write 'memory'"),
    (
      "run: ls, slurm: { ntasks: 4 }",
      "2:26: unknown key 'ntasks': a job is one program: write 'cpus' for its processors, or 'options: [--ntasks=N]'"
    ),
    (
      "run: ls, slurm: { options: [exclusive] }",
      "2:36: slurm.options takes options of sbatch, as in '[--exclusive]'; this is 'exclusive': "
        + "write each as one word that begins with '--'"
    ),
    (
      "run: ls, partition: short",
      "2:17: unknown key 'partition': it is a key of slurm: write it inside 'slurm: { … }'"
    ),
  ])
  func aFaultSaysTheAdvice(body: String, fault: String) {
    #expect(faults(job: body) == [fault])
  }

  @Test func theAllocationOfAFileIsRead() throws {
    let head = "slurm: { cpus: 1, allocation: { nodes: 2, cpus: 4, memory: 8G, gpus: 1, time: 1h, partition: short } }"
    let read = try graph(head + "\njobs: { a: { on: slurm, slurm: { memory: 1G }, run: ls } }")
    #expect(
      read.allocation
        == ClusterRequest(cpus: 4, memory: 8192, gpus: 1, nodes: 2, time: .seconds(3600), partition: "short"))
    #expect(read.jobs[0].cluster == ClusterRequest(cpus: 1, memory: 1024))
    #expect(try graph("slurm: { cpus: 1 }\njobs: { a: { run: ls } }").allocation == nil)
    // One that asks for nothing is one of a single CPU.
    #expect(try graph("slurm: { allocation: {} }\njobs: { a: { run: ls } }").allocation == ClusterRequest())
  }

  @Test(arguments: [
    (
      "slurm: { time: 1h, allocation: { nodes: 2 } }", "",
      "1:10: a step of the allocation has no time limit of its own: write 'timeout: …' for the job, or "
        + "'time' into 'slurm: { allocation: { … } }'"
    ),
    (
      "slurm: { allocation: { nodes: 2 } }\ndefaults: { slurm: { partition: long } }", "",
      "2:22: a step of the allocation can't have 'partition': write it into 'slurm: { allocation: { … } }'"
    ),
    (
      "slurm: { allocation: { nodes: 2 } }", "slurm: { nodes: 3 }",
      "2:32: a step of the allocation is executed on one of its nodes: delete 'nodes'"
    ),
    (
      "slurm: { allocation: { nodes: 2 } }", "slurm: { options: [--exclusive] }",
      "2:32: a step of the allocation can't have 'options': write it into 'slurm: { allocation: { … } }'"
    ),
    (
      "name: x", "slurm: { allocation: { nodes: 2 } }",
      "2:32: unknown key 'allocation': it is of the whole run: write it into 'slurm:' at the start of a line"
    ),
    (
      "defaults: { slurm: { allocation: { nodes: 2 } } }", "",
      "1:22: unknown key 'allocation': it is of the whole run: write it into 'slurm:' at the start of a line"
    ),
    (
      "slurm: { allocation: 2 }", "",
      "1:22: slurm.allocation is a map; this is '2': write '{ nodes: 2, cpus: 8 }' or the like"
    ),
    (
      "slurm: { allocation: { memory: 16 } }", "",
      "1:32: slurm.allocation.memory takes an amount as 500M, 16G or 1T, or 0 for all of the node; this is '16': "
        + "write 16G, or 16M"
    ),
    (
      "slurm: { allocation: { mem: 16G } }", "",
      "1:24: unknown key 'mem': write 'memory'"
    ),
  ])
  func whatAStepCannotHaveIsAFault(head: String, job: String, fault: String) {
    let body = job.isEmpty ? "run: ls" : "run: ls, " + job
    #expect(faults("\(head)\njobs: { a: { \(body) } }") == [fault])
  }

  @Test func theTriggerOfAnotherToolIsNoEngine() {
    #expect(
      faults("on: [push]\njobs: { a: { run: ls } }") == [
        "1:5: 'on' takes local or slurm, and opdash starts when you start it: delete it"
      ])
  }
}
