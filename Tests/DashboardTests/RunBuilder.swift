import Foundation
import JobModel

/// Builds runs from facts at fixed instants.
struct RunBuilder {
  private(set) var run = Run()
  private(set) var events: [JobEvent] = []
  var time: Duration = .zero

  init(
    _ jobs: [Job], name: String = "release", slots: Int = 6, pools: [String: Int] = [:], folder: String? = "/state/r1"
  ) {
    state(
      .runStarted(
        RunStart(
          id: "r1", name: name, slots: slots, at: Date(timeIntervalSince1970: 1_767_225_600), jobs: jobs.count,
          pools: pools, folder: folder)))
    for (index, job) in jobs.enumerated() { state(.jobAdded(JobID(index), job)) }
  }

  mutating func state(_ fact: JobFact) {
    let event = JobEvent(seq: run.nextSeq, time: time, fact: fact)
    events.append(event)
    run.apply(event)
  }

  mutating func at(_ seconds: Double) { time = .milliseconds(Int64(seconds * 1000)) }

  mutating func move(_ name: String, _ state: JobState, attempt: Int? = nil, pid: Int32? = nil) {
    guard let id = run.id(named: name) else { preconditionFailure("no job \(name)") }
    let last = run[id].attempt?.number ?? 0
    let begins = state == .executing && !run[id].state.isActive
    self.state(.jobState(id, state, attempt: attempt ?? (begins ? last + 1 : last), pid: pid))
  }

  /// Asks for the end of a job's attempt.
  mutating func cancel(_ name: String, by canceller: JobState.Canceller = .person, kill: Bool = false) {
    guard let id = run.id(named: name) else { preconditionFailure("no job \(name)") }
    state(.cancelRequested(id, by: canceller, kill: kill))
  }

  mutating func progress(_ name: String, _ done: Int64, of total: Int64?, _ unit: JobProgress.Unit = .bytes) {
    guard let id = run.id(named: name) else { preconditionFailure("no job \(name)") }
    state(.jobProgress(id, JobProgress(done: done, total: total, unit: unit)))
  }

  mutating func log(
    _ name: String, _ text: String, _ stream: LogLine.Stream = .stdout, isCut: Bool = false, isUnfinished: Bool = false
  ) {
    guard let id = run.id(named: name) else { preconditionFailure("no job \(name)") }
    let line = LogLine(stream, text, isCut: isCut, isUnfinished: isUnfinished)
    state(.jobLog(id, attempt: run[id].attempt?.number ?? 0, line))
  }

  /// The events since the last call.
  mutating func take() -> [JobEvent] {
    defer { events = [] }
    return events
  }
}

extension Job {
  static func shell(
    _ name: String, _ command: String = "true", needs: [JobNeed] = [], priority: JobPriority = .normal,
    uses: [String: Int] = [:], retry: RetryPolicy = .never, allowFailure: Bool = false
  ) -> Job {
    Job(
      name: name, work: .shell(ShellWork(.script(command))), needs: needs, priority: priority, uses: uses, retry: retry,
      allowFailure: allowFailure)
  }
}

/// A run with a job in every state.
enum RichRun {
  private static let names = [
    "checkout", "lint", "fetch", "unit-tests", "migrate", "warm-cache", "build[linux]", "build[mac]", "notify",
    "publish", "docs", "flaky-bench", "integration-tests-against-staging-eu-west", "assets", "upload-symbols",
    "cleanup",
    "sign", "announce", "mirror", "e2e", "archive", "index", "digest", "tag", "release-notes", "stubborn",
  ]

  private static func need(_ name: String, _ when: JobNeed.Condition = .ok) -> JobNeed {
    JobNeed(JobID(names.firstIndex(of: name) ?? 0), when: when)
  }

  static func builder() -> RunBuilder {
    let retry = RetryPolicy(max: 1)
    let retries = RetryPolicy(max: 3, only: [.network, .serverError])
    let web = "http://127.0.0.1:8080"
    let jobs: [Job] = [
      .shell("checkout", "git clone --depth 1 repo src"),
      .shell("lint", "swift format lint --strict -r Sources Tests", needs: [need("checkout")], retry: retry),
      Job(
        name: "fetch", work: .download(DownloadWork(url: "\(web)/sdk-4.2.tar.zst", file: "/build/sdk.tar.zst")),
        needs: [need("checkout")], uses: ["net": 1], timeout: .seconds(600), retry: retries),
      .shell("unit-tests", "swift test --parallel", needs: [need("checkout")]),
      .shell("migrate", "./migrate --all --verbose", needs: [need("checkout")], uses: ["heavy": 1]),
      Job(name: "warm-cache", work: .simulate(SimulatedWork(duration: .seconds(60), steps: 40)), uses: ["heavy": 1]),
      .shell(
        "build[linux]", "./build --os linux", needs: [need("fetch"), need("checkout"), need("assets")],
        uses: ["heavy": 1]),
      .shell("build[mac]", "./build --os mac", needs: [need("checkout")], priority: .high, uses: ["heavy": 1]),
      Job(
        name: "notify",
        work: .upload(UploadWork(file: "/build/note.json", url: "\(web)/hooks/notify", method: "POST")), retry: retries),
      .shell("publish", "./publish", needs: [need("lint")]),
      .shell("docs", "make docs", needs: [need("checkout")]),
      .shell("flaky-bench", "./bench", allowFailure: true),
      .shell(
        "integration-tests-against-staging-eu-west", "./integration --region eu-west", needs: [need("build[mac]")]),
      Job(name: "assets", work: .download(DownloadWork(url: "\(web)/assets.bin", file: "/build/assets.bin"))),
      Job(name: "upload-symbols", work: .upload(UploadWork(file: "/build/symbols.zip", url: "\(web)/symbols"))),
      .shell("cleanup", "rm -rf tmp", needs: [need("publish", .finished), need("unit-tests", .finished)]),
      .shell("sign", "gpg --detach-sign out.zip"),
      .shell("announce", "./announce", needs: [need("unit-tests"), need("migrate"), need("fetch"), need("assets")]),
      .shell("mirror", "rsync -a out/ mirror:", needs: [need("unit-tests", .failed)]),
      .shell("e2e", "./e2e.sh", needs: [need("build[mac]")]),
      .shell("archive", "tar cf out.tar out"),
      .shell("index", "./index"),
      .shell("digest", "sha256sum out.tar"),
      .shell("tag", "git tag v4.2", needs: [need("publish")]),
      .shell("release-notes", "./notes"),
      Job(
        name: "stubborn", work: .shell(ShellWork(.script("./stubborn"), stop: ShellWork.Stop(grace: .seconds(20))))),
    ]
    var builder = RunBuilder(jobs, slots: 7, pools: ["heavy": 2, "net": 4])
    play(&builder)
    return builder
  }

  private static func play(_ run: inout RunBuilder) {
    run.at(0.01)
    for name in ["checkout", "warm-cache", "flaky-bench", "assets", "notify"] {
      run.move(name, .ready(for: .slot))
      run.move(name, .executing)
    }
    run.move("release-notes", .ready(for: .slot))
    run.move("release-notes", .succeeded(upToDate: true))
    run.at(3)
    run.log("checkout", "Cloning into 'src'...", .stderr)
    run.move("checkout", .succeeded(upToDate: false))
    for name in ["lint", "docs", "migrate", "unit-tests"] { run.move(name, .ready(for: .slot)) }
    run.at(5)
    run.move("flaky-bench", .failed(JobFailure(.exit(2), "exit 2"), allowed: true))
    run.move("lint", .executing, pid: 4101)
    run.at(11)
    run.log("lint", "Sources/App/main.swift:3:1: error: [OrderedImports] sort import statements", .stderr)
    run.move("lint", .backingOff(until: .seconds(12), number: 1, limit: 1, after: JobFailure(.exit(1), "exit 1")))
    run.at(12)
    run.move("lint", .executing, pid: 4107)
    run.at(24)
    run.move("lint", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    for name in ["publish", "tag"] { run.move(name, .skipped(because: .job(JobID(1)))) }
    run.at(30)
    run.move("docs", .executing, pid: 4110)
    run.at(34)
    run.move("docs", .cancelled(by: .person))
    run.move("sign", .ready(for: .slot))
    run.move("sign", .executing, pid: 4111)
    run.at(64)
    run.move("sign", .failed(JobFailure(.timedOut, "timed out after 0:30"), allowed: false))
    run.at(159)
    run.move("fetch", .ready(for: .pool("net")))
    run.at(159.4)
    run.move("fetch", .executing)
    run.log("fetch", "GET /sdk-4.2.tar.zst 206, from byte 1073741824", .note)
    run.at(177)
    run.move("unit-tests", .executing, pid: 4200)
    for number in 1...30 { run.log("unit-tests", "Test suite \(number) passed after 0.\(number) seconds.") }
    run.progress("unit-tests", 0, of: 120, .steps)
    run.move("build[mac]", .ready(for: .pool("heavy")))
    run.at(200)
    run.move("warm-cache", .paused(started: true))
    run.move("stubborn", .ready(for: .slot))
    run.at(201)
    run.move("stubborn", .executing, pid: 4300)
    run.at(212)
    run.move("migrate", .executing, pid: 4242)
    run.log("migrate", "applying 0042_users.sql")
    run.move("upload-symbols", .ready(for: .slot))
    run.at(213)
    run.move("upload-symbols", .executing)
    run.progress("upload-symbols", 1_000_000, of: nil)
    run.at(213.1)
    run.move(
      "notify", .backingOff(until: .seconds(229), number: 2, limit: 3, after: JobFailure(.http(503), "HTTP 503")))
    run.move("archive", .ready(for: .slot))
    run.move("archive", .paused(started: false))
    run.move("index", .ready(for: .slot))
    run.at(218.3)
    run.cancel("stubborn")
    run.at(220)
    run.progress("fetch", 1_073_741_824, of: 2_147_483_648)
    run.progress("unit-tests", 21, of: 120, .steps)
    run.progress("upload-symbols", 8_400_000, of: nil)
    run.progress("assets", 37_000_000, of: 40_000_000)
    run.at(221)
    run.progress("fetch", 1_082_235_289, of: 2_147_483_648)
    run.progress("unit-tests", 24, of: 120, .steps)
    run.progress("upload-symbols", 12_600_000, of: nil)
    run.progress("assets", 38_500_000, of: 40_000_000)
    run.log("fetch", "\u{1B}[32m50%\u{1B}[0m of 2.0G")
  }
}
