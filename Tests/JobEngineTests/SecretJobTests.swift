import Foundation
import JobModel
import Support
import Testing

@testable import JobEngine

/// The values of a graph's secrets are in no event and in no file of the run.
@Suite struct SecretJobTests {
  private static let secret = "s3cr3t-value"

  /// The events and the files of a run, as text, and its end.
  private func record(_ jobs: [Job]) throws -> (text: String, run: Run) {
    let folder = NSTemporaryDirectory() + "opdash-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let graph = JobGraph(name: "test", jobs: jobs, secrets: [Self.secret])
    let queue = try JobQueue(graph, options: .init(slots: 4, stateFolder: folder))
    let events = Lock<[JobEvent]>([])
    let subscription = queue.subscribe(on: DispatchQueue(label: "events")) { new in events.withLock { $0 += new } }
    queue.start()
    #expect(eventually { queue.run.isComplete })
    let run = queue.settled()
    #expect(eventually { events.withLock { $0.count == run.nextSeq } })
    subscription.cancel()
    var writer = EventWriter()
    var bytes: [UInt8] = []
    for event in events.withLock({ $0 }) { writer.append(event, to: &bytes) }
    var text = String(decoding: bytes, as: UTF8.self)
    for file in FileManager.default.enumerator(atPath: folder) ?? .init() {
      let path = "\(folder)/\(file)"
      text += "\n\(path)\n" + ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")
    }
    return (text, run)
  }

  private func shell(_ name: String, _ script: String, needs: [JobNeed] = []) -> Job {
    Job(name: name, work: .shell(ShellWork(.script(script))), needs: needs)
  }

  @Test func itIsInNoEventAndNoFile() throws {
    let secret = Self.secret
    var described = shell("described", "echo \(secret); echo begin >&2; echo \(secret) >&2; false")
    described.description = "sends \(secret)"
    described.creates = ["/nowhere/\(secret)"]
    var again = Job(name: "again", work: .shell(ShellWork(.argv(["no-such-program-\(secret)"]))))
    again.retry = RetryPolicy(max: 1, initial: .milliseconds(1))
    let fetched = Job(
      name: "fetched", work: .download(DownloadWork(url: "http://127.0.0.1:1/\(secret)", file: "/nowhere/\(secret)")))
    var conditional = shell("conditional", "true")
    conditional.condition = JobCondition("\(secret) == x", [[.init(secret, equals: "x")]])
    var approved = shell("approved", "true")
    approved.approval = "with \(secret)?"
    approved.condition = JobCondition("no", [[.init("no")]])
    let (text, run) = try record([described, again, fetched, conditional, approved])
    #expect(!text.contains(secret))
    #expect(text.contains("sends ***"))
    #expect(text.contains("no-such-program-***"))
    #expect(run.jobs[0].state.isFailure && run.jobs[1].state.isFailure && run.jobs[2].state.isFailure)
    #expect(run.jobs[3].state == .skipped(because: .condition))
  }

  @Test func aProgramIsGivenItNevertheless() throws {
    let (_, run) = try record([shell("length", "x=\(Self.secret); echo ${#x}")])
    #expect(run.jobs[0].log[0].line.text == "\(Self.secret.count)")
  }

  @Test func itIsNotGivenToAnotherJobAsAValue() throws {
    var reader = shell("reader", "echo ${jobs.writer.token}", needs: [JobNeed(JobID(0))])
    reader.outputs = [OutputReference("${jobs.writer.token}", job: JobID(0), name: "token")]
    let writer = shell("writer", "echo token=a-\(Self.secret) >> $OPDASH_OUTPUT; echo plain=1 >> $OPDASH_OUTPUT")
    let (text, run) = try record([writer, reader])
    #expect(!text.contains(Self.secret))
    #expect(run.jobs[0].outputs == ["plain": "1"])
    #expect(run.jobs[0].log[0].line.text == "token of $OPDASH_OUTPUT holds a secret, and is not given to other jobs")
    let reason = "writer has written no token to $OPDASH_OUTPUT, but plain"
    #expect(run.jobs[1].state == .failed(JobFailure(.launch, reason), allowed: false))
  }

  @Test func theOtherFaultsOfTheValuesAreNotedToo() throws {
    let (_, run) = try record([
      shell(
        "writer",
        "echo no value >> $OPDASH_OUTPUT; echo token=\(Self.secret) >> $OPDASH_OUTPUT; "
          + "head -c 1048576 /dev/zero >> $OPDASH_OUTPUT")
    ])
    let log = run.jobs[0].log
    #expect(
      (0..<log.count).map { log[$0].line.text } == [
        "line 1 of $OPDASH_OUTPUT is not NAME=VALUE and is ignored: no value",
        "token of $OPDASH_OUTPUT holds a secret, and is not given to other jobs",
        "$OPDASH_OUTPUT has more than 1 MiB: what follows is ignored",
      ])
  }

  @Test func aGraphThatIsShownDoesNotShowItEither() {
    let graph = JobGraph(name: "test", jobs: [shell("a", "echo \(Self.secret)")], secrets: [Self.secret])
    #expect(graph.masked.jobs[0].work == .shell(ShellWork(.script("echo ***"))))
    #expect(JobGraph(name: "test", jobs: graph.jobs).masked == JobGraph(name: "test", jobs: graph.jobs))
  }
}
