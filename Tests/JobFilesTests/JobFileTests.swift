import Foundation
import JobFiles
import JobModel
import Testing

@Suite struct JobFileTests {
  @Test func aFileWithEveryKeyGivesTheGraphThatItDescribes() throws {
    let graph = try graph(
      #"""
      version: 1
      name: release
      slots: 6
      on_failure: stop-now
      schedule: fifo
      vars: { ver: "4.2", base: "http://127.0.0.1:8080" }
      env: { LANG: C.UTF-8, LEVEL: 1 }
      pools: { heavy: 2, net: 4 }
      x-note: [anything, { at: all }]
      defaults:
        timeout: 10m
        retry: { max: 2, backoff: exponential, initial: 2s, cap: 30s, jitter: true }
        env: { LEVEL: 2, MODE: fast }
      jobs:
        checkout:
          run: "git clone --depth 1 repo src"
        fetch:
          needs: [checkout]
          download:
            url: "${base}/sdk-${ver}.tar.zst"
            to: sdk.tar.zst
            sha256: "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef"
            resume: false
            headers: { Accept: "*/*" }
          uses: { net: 1 }
          retry: { max: 5, only: [network, timeout, 5xx, 429] }
        build:
          needs: [fetch]
          run: [./build, --os, "linux-${ver}", 5]
          dir: src
          env: { MODE: slow }
          uses: { heavy: 1 }
          priority: high
          progress: '\[(\d+)/(\d+)\]'
          stop: { signal: INT, grace: 7s }
          timeout: 1h30m
        publish:
          needs: { build: ok, fetch: finished }
          upload: { file: out.zip, url: "${base}/up", method: POST, headers: { Authorization: "Bearer ${env.TOKEN}" } }
          allow_failure: true
          retry: 0
        notify:
          needs: { publish: failed }
          run: ./page-oncall
        rehearse:
          simulate: { duration: 8s, steps: 40, fail_rate: 0.1, seed: 7 }
          priority: very-low
      """#)
    #expect(graph.name == "release")
    #expect(graph.slots == 6)
    #expect(graph.onFailure == .stopNow)
    #expect(graph.schedule == .fifo)
    #expect(graph.pools == ["heavy": 2, "net": 4])
    #expect(graph.jobs.map(\.name) == ["checkout", "fetch", "build", "publish", "notify", "rehearse"])
    let retry = RetryPolicy(
      max: 2, backoff: .exponential, initial: .seconds(2), cap: .seconds(30), jitter: true, only: nil)
    #expect(
      graph.jobs[0]
        == Job(
          name: "checkout",
          work: .shell(
            ShellWork(
              .script("git clone --depth 1 repo src"), directory: "/jobs",
              environment: ["LANG": "C.UTF-8", "LEVEL": "2", "MODE": "fast"])), timeout: .seconds(600), retry: retry))
    var patient = retry
    patient.max = 5
    patient.only = [.network, .timeout, .serverError, .tooManyRequests]
    #expect(
      graph.jobs[1]
        == Job(
          name: "fetch",
          work: .download(
            DownloadWork(
              url: "http://127.0.0.1:8080/sdk-4.2.tar.zst", file: "/jobs/sdk.tar.zst",
              sha256: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", resume: false,
              headers: ["Accept": "*/*"])), needs: [JobNeed(JobID(0))], uses: ["net": 1], timeout: .seconds(600),
          retry: patient))
    #expect(
      graph.jobs[2]
        == Job(
          name: "build",
          work: .shell(
            ShellWork(
              .argv(["./build", "--os", "linux-4.2", "5"]), directory: "/jobs/src",
              environment: ["LANG": "C.UTF-8", "LEVEL": "2", "MODE": "slow"],
              stop: ShellWork.Stop(signal: SIGINT, grace: .seconds(7)), progress: #"\[(\d+)/(\d+)\]"#)),
          needs: [JobNeed(JobID(1))], priority: .high, uses: ["heavy": 1], timeout: .seconds(5400), retry: retry))
    var never = retry
    never.max = 0
    #expect(
      graph.jobs[3]
        == Job(
          name: "publish",
          work: .upload(
            UploadWork(
              file: "/jobs/out.zip", url: "http://127.0.0.1:8080/up", method: "POST",
              headers: ["Authorization": "Bearer t0p"])),
          needs: [JobNeed(JobID(2)), JobNeed(JobID(1), when: .finished)], timeout: .seconds(600), retry: never,
          allowFailure: true))
    #expect(graph.jobs[4].needs == [JobNeed(JobID(3), when: .failed)])
    #expect(
      graph.jobs[5].work
        == .simulate(SimulatedWork(duration: .seconds(8), steps: 40, failRate: 0.1, seed: 7)))
    #expect(graph.jobs[5].priority == .veryLow)
  }

  @Test func aJSONFileGivesTheSameGraphAsItsYAML() throws {
    let yaml = try graph("name: x\njobs:\n  a:\n    run: [echo, \"é😀\"]\n  b:\n    needs: [a]\n    run: echo 1/2\n")
    let json = try graph(
      "{\n\t\"name\": \"x\",\n\t\"jobs\": {\n\t\t\"a\":{\"run\":[\"echo\",\"\\u00e9\\ud83d\\ude00\"]},\n"
        + "\t\t\"b\": {\"needs\": [\"a\"], \"run\": \"echo 1\\/2\"}\n\t}\n}\n")
    #expect(json == yaml)
  }

  @Test func aFileThatNamesNothingHasTheUsualSettings() throws {
    let graph = try graph("jobs: { a: { run: ls } }")
    #expect(graph.name == "ci")
    #expect(graph.slots == nil)
    #expect(graph.onFailure == .keepGoing)
    #expect(graph.schedule == .criticalPath)
    #expect(graph.jobs == [Job(name: "a", work: .shell(ShellWork(.script("ls"), directory: "/jobs")))])
  }

  @Test(arguments: [
    ("a/b.yml", "b"), ("b.yaml", "b"), ("/b.c.json", "b.c"), ("b.yml.txt", "b.yml.txt"), ("Jobfile", "Jobfile"),
    (".yml", ".yml"), ("a/.json", ".json"), ("x.yml.yaml", "x.yml"), ("<stdin>", "stdin"),
  ])
  func aRunWithoutANameHasThatOfItsFile(file: String, name: String) throws {
    #expect(try JobFile.decode(Array("jobs: { a: ls }".utf8), file: file, directory: "/").name == name)
  }

  @Test func wordsThatOldYAMLTookForBooleansAreText() throws {
    guard case .shell(let work) = try job("run: [yes, no, on, 010, 1.10, true]").work else { return }
    #expect(work.command == .argv(["yes", "no", "on", "010", "1.10", "true"]))
  }

  @Test func byteOrderMarkAndWindowsLineEndsAreRead() throws {
    let text = "\u{FEFF}name: x\r\njobs:\r\n  a:\r\n    run: |\r\n      one\r\n      two\r\n"
    guard case .shell(let work) = try graph(text).jobs[0].work else { return }
    #expect(work.command == .script("one\ntwo\n"))
    #expect(faults("\u{FEFF}nam: x\r\njobs:\r\n  a: { rn: x }\r\n").map { $0.prefix(4) } == ["1:1:", "3:8:"])
  }

  @Test func pathsAreRelativeToTheFolderOfTheFile() throws {
    let jobs = try graph(
      """
      jobs:
        a: { run: make, dir: ../other/./src }
        b: { download: { url: "http://h/x", to: "out//./y" } }
        c: { download: { url: "http://h/x", to: /tmp/y } }
        d: { upload: { url: "http://h/x", file: ../z } }
        e: { download: "http://h/a%20b.txt?v=1#top" }
        f: { download: { url: "http://h/x", to: sub/../y2 } }
      """
    ).jobs.map(\.work)
    guard case .shell(let a) = jobs[0], case .download(let b) = jobs[1], case .download(let c) = jobs[2],
      case .upload(let d) = jobs[3], case .download(let e) = jobs[4], case .download(let f) = jobs[5]
    else { throw UnexpectedWork() }
    #expect(a.directory == "/other/src")
    #expect(b.file == "/jobs/out/y")
    #expect(c.file == "/tmp/y")
    #expect(d.file == "/z")
    #expect(e.file == "/jobs/a b.txt")
    #expect(f.file == "/jobs/y2")
  }

  @Test func aJobsPolicyIsLaidOverTheDefaultsKeyByKey() throws {
    let head = """
      pools: { net: 2, cpu: 3 }
      defaults:
        retry: { max: 2, initial: 3s, jitter: true }
        uses: { net: 1, cpu: 2 }
        stop: { grace: 9s }
        dir: src
        allow_failure: true
        priority: low
        progress: '(\\d+)%'
      """
    let a = try job("run: ls\nretry: 4\nuses: { net: 0 }\nstop: { signal: sigquit }\nallow_failure: false", head: head)
    #expect(a.retry == RetryPolicy(max: 4, initial: .seconds(3), jitter: true))
    #expect(a.uses == ["cpu": 2])
    #expect(!a.allowFailure)
    #expect(a.priority == .low)
    guard case .shell(let work) = a.work else { throw UnexpectedWork() }
    #expect(work.stop == ShellWork.Stop(signal: SIGQUIT, grace: .seconds(9)))
    #expect(work.directory == "/jobs/src")
    #expect(work.progress == #"(\d+)%"#)
  }

  @Test func defaultsForRunJobsAreNoFaultOfOthers() throws {
    let b = try job("download: http://h/x", head: "defaults: { env: { A: b }, dir: src, timeout: 3s }")
    #expect(b.work == .download(DownloadWork(url: "http://h/x", file: "/jobs/x")))
    #expect(b.timeout == .seconds(3))
  }

  @Test func aFirstWaitLongerThanTheUsualCapIsKept() throws {
    let retry = try job("run: ls\nretry: { max: 1, initial: 2m }").retry
    #expect(retry.delay(beforeRetry: 1, random: 0) == .seconds(120))
  }

  @Test func anchorsAliasesAndMergeKeysStandForTheirValues() throws {
    let jobs = try graph(
      """
      x-base: &base { timeout: 3s, env: &env { A: "1" }, run: base }
      x-more: &more { timeout: 4s, priority: high }
      jobs:
        a: { <<: *base, run: own }
        b: { run: b, env: *env, <<: [*more, *base] }
        c: { run: &cmd "echo c" }
        d: { run: *cmd }
      """
    ).jobs
    #expect(jobs[0].timeout == .seconds(3))
    #expect(jobs[1].timeout == .seconds(4))
    #expect(jobs[1].priority == .high)
    let scripts = jobs.map { job -> ShellWork.Command? in
      if case .shell(let work) = job.work { work.command } else { nil }
    }
    #expect(scripts == [.script("own"), .script("b"), .script("echo c"), .script("echo c")])
    guard case .shell(let b) = jobs[1].work else { throw UnexpectedWork() }
    #expect(b.environment == ["A": "1"])
  }

  @Test func aHundredThousandJobsInOneChainAreRead() throws {
    var text = "jobs:\n  j0: { simulate: {} }\n"
    for number in 1..<100_000 { text += "  j\(number): { needs: [j\(number - 1)], simulate: {} }\n" }
    let graph = try graph(text)
    #expect(graph.jobs.count == 100_000)
    #expect(graph.jobs[99_999].needs == [JobNeed(JobID(99_998))])
    #expect(!graph.hasCycle)
  }
}

struct UnexpectedWork: Error {}
