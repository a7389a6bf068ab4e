import Foundation
import Support
import Testing

/// Something else in the place of each file that opdash opens: it is neither waited for nor read without end, and no other job
/// has to do with it.
struct ReplacedFileTests {
  /// What takes the place of a file.
  enum Kind: String, CaseIterable, Sendable {
    case fifo, device, folder, link, sparse, foreign

    /// Only root gives files away.
    static let possible = allCases.filter { $0 != .foreign || geteuid() == 0 }

    /// Makes it at `$1`, in sh.
    var making: String {
      switch self {
      case .fifo: "mkfifo \"$1\""
      // As /dev/zero.
      case .device: "mknod \"$1\" c 1 5 2>/dev/null || ln -s /dev/zero \"$1\""
      case .folder: "mkdir \"$1\""
      case .link: "echo \"jobs: { linked: 'true' }\" >target; ln -s \"$PWD/target\" \"$1\""
      case .sparse: "truncate -s 8G \"$1\""
      case .foreign: "echo \"jobs: { foreign: 'true' }\" >\"$1\"; chown 12345 \"$1\""
      }
    }
  }

  /// A file that opdash opens, and how it comes to that.
  struct Place: Sendable, CustomTestStringConvertible {
    var file: String
    /// What is done before the file is replaced.
    var before = ""
    var command: String
    /// Whether what is not a regular file is bad usage.
    var isInput = false
    var kinds = Kind.possible

    var testDescription: String { "\(file) of opdash \(command)" }
  }

  private static let run = "$OPDASH run one.yml --ui quiet"

  /// The files that are there before a command.
  static let places = [
    Place(file: "a.yml", command: "check a.yml", isInput: true),
    Place(file: "a.yml", command: "list a.yml", isInput: true),
    Place(file: "a.yml", command: "graph a.yml", isInput: true),
    Place(file: "a.yml", command: "run a.yml", isInput: true),
    Place(file: "a.yml", command: "__complete run a.yml ''"),
    Place(file: "opdash.yml", command: "__complete run ''"),
    Place(file: "opdash.yml", command: "run", kinds: Kind.possible.filter { $0 != .folder }),
    Place(file: "included.yml", command: "check including.yml"),
    Place(file: "variables", command: "check dotenv.yml"),
    Place(file: "config/opdash/config.yaml", command: "keys", isInput: true),
    Place(file: "list", command: "get -n -i list", isInput: true),
    Place(file: "sums", command: "get -n --sums sums http://127.0.0.1:1/x", isInput: true),
    Place(file: "a.yml", command: "watch a.yml", isInput: true),
    Place(file: "recording", command: "replay ./recording --ui json", isInput: true),
    Place(file: "state/opdash/opdash.db", command: "history", isInput: true),
    Place(file: "state/opdash/opdash.db-wal", before: run, command: "history", isInput: true),
    Place(file: "state/opdash/opdash.db-shm", before: run, command: "history", isInput: true),
    Place(file: "state/opdash/opdash.db-journal", before: run, command: "history", isInput: true),
    Place(file: "state/opdash/opdash.db", before: run, command: "run one.yml"),
    Place(file: "state/opdash/opdash.db-journal", before: run, command: "resume"),
    Place(file: "state/opdash/opdash.db", before: run, command: "report", isInput: true),
    Place(file: "state/opdash/opdash.db", before: run, command: "diff last last", isInput: true),
    Place(file: "state/opdash/opdash.db", before: run, command: "replay last --ui json", isInput: true),
    Place(file: "state/opdash/opdash.db", before: run, command: "logs", isInput: true),
    Place(file: "state/opdash/opdash.db", before: run, command: "__complete resume ''"),
    Place(file: "state/opdash/opdash.live", command: "run one.yml"),
    Place(file: "state/opdash/opdash.live", before: run, command: "history"),
    Place(
      file: "$(echo state/opdash/runs/*)/logs/two.1.1.log", before: "$OPDASH run failing.yml --ui quiet",
      command: "logs two"),
    Place(
      file: "$(echo state/opdash/runs/*)/succeeded", before: "$OPDASH run failing.yml --ui quiet", command: "resume"),
    Place(file: "events", command: "run one.yml --events events"),
    Place(file: "events", command: "run one.yml --trace events --junit junit"),
    Place(file: "page", before: run, command: "report last --html page"),
    Place(file: "read", command: "run inputs.yml", kinds: Kind.possible.filter { $0 != .sparse }),
    Place(file: "sent", command: "run upload.yml"),
    Place(file: "got", command: "run download.yml"),
    Place(file: "got.part", command: "run download.yml"),
    Place(file: "got.part.meta", before: "echo half >got.part", command: "run download.yml"),
  ]

  /// The files that a job can replace while a run goes on, by their names for the shell of a job.
  static let replaceable = [
    "$OPDASH_OUTPUT", "$(dirname $OPDASH_OUTPUT)/succeeded", "$(dirname $OPDASH_OUTPUT)/logs/first.0.1.log",
    "$(dirname $OPDASH_OUTPUT)/logs/second.1.1.log", "$(dirname $OPDASH_OUTPUT)/output.1.1",
    "state/opdash/opdash.db-wal", "state/opdash/opdash.db-journal", "in", "jobs.yml",
  ]

  private func workplace(_ kind: Kind) throws -> Workplace {
    let place = try Workplace(files: [
      "plant.sh": "mkdir -p \"$(dirname \"$1\")\"; rm -rf \"$1\"; \(kind.making)\n",
      "one.yml": "jobs: { one: 'true' }",
      "failing.yml": "jobs: { one: 'true', two: { needs: [one], run: 'seq 5000; false' } }",
      "including.yml": "include: included.yml\njobs: { one: 'true' }",
      "dotenv.yml": "dotenv: variables\njobs: { one: 'true' }",
      "inputs.yml": "jobs: { one: { run: touch made, inputs: [read], creates: [made] } }",
      "upload.yml": "jobs: { one: { upload: { file: sent, url: 'http://127.0.0.1:1/' } } }",
      "download.yml": "jobs: { one: { download: { url: 'http://127.0.0.1:1/', to: got } } }",
      "in": "content",
    ])
    return place
  }

  private static let cases = places.flatMap { place in place.kinds.map { (place, $0) } }

  @Test(arguments: cases) func aCommandAnswers(_ place: Place, _ kind: Kind) throws {
    let workplace = try workplace(kind)
    let before = place.before.isEmpty ? ":" : place.before
    let run = try workplace.start(script: "\(before); sh plant.sh \(place.file); exec $OPDASH \(place.command)")
    guard case .exited(let status)? = run.ending() else {
      Issue.record("it has not ended, or by a signal: \(run.outputText)\(run.errorText)")
      return
    }
    #expect((0...2).contains(status))
    if place.isInput, [.fifo, .device, .folder].contains(kind) {
      #expect(status == 2)
      #expect(run.errorText.contains(Self.words(of: kind)) || run.outputText.contains(Self.words(of: kind)))
    }
  }

  private static func words(of kind: Kind) -> String {
    switch kind {
    case .fifo: "a named pipe"
    case .device: "a device"
    default: "a folder"
    }
  }

  /// One job replaces the file; another one is to go on meanwhile, and a third has a limit that must hold.
  private func jobs(replacing file: String, more: String = "") -> String {
    """
    jobs:
      first: { run: 'sh plant.sh "\(file)"; echo first', inputs: [in], creates: [made], allow_failure: true }
      second: { needs: { first: finished }, run: 'echo second; seq 2000' }
      other: { run: 'for i in 1 2 3; do echo $i; sleep 0.1; done; touch other' }
      late: { run: exec sleep 86399, timeout: 1s, allow_failure: true }
    \(more)
    """
  }

  @Test(arguments: replaceable, Kind.possible) func theRunGoesOn(_ file: String, _ kind: Kind) throws {
    let workplace = try workplace(kind)
    try workplace.write(jobs(replacing: file), to: "jobs.yml")
    let run = try workplace.run("run", "jobs.yml", "-j", "4", "--ui", "plain")
    #expect(run.ending() == .exited(0), "\(run.outputText)\(run.errorText)")
    #expect(workplace.has("other"))
    #expect(run.outputText.contains("timed out"))
  }

  @Test(arguments: replaceable, [SIGTERM, SIGINT]) func aSignalEndsTheRun(_ file: String, _ signal: Int32) throws {
    let workplace = try workplace(.fifo)
    let nap = "  nap: { needs: [second], run: 'touch ready; exec sleep 86399' }"
    try workplace.write(jobs(replacing: file, more: nap), to: "jobs.yml")
    let run = try workplace.start("run", "jobs.yml", "-j", "4", "--ui", "plain")
    #expect(eventually { workplace.has("ready") })
    kill(run.child.pid, signal)
    #expect(run.ending() != nil, "\(run.outputText)\(run.errorText)")
  }

  @Test(arguments: Kind.possible) func eachPrintsWhatWasSaidThoughALogWasReplaced(_ kind: Kind) throws {
    let workplace = try workplace(kind)
    try workplace.write(
      "if [ $1 = a ]; then sh plant.sh \"$(dirname \"$OPDASH_OUTPUT\")/logs/a.0.1.log\"; fi; echo $1", to: "say.sh")
    let run = try workplace.script("exec $OPDASH each --order 'sh say.sh {}' a b </dev/null")
    #expect(run.ending() == .exited(0), "\(run.errorText)")
    #expect(run.outputText == "a\nb\n")
  }
}
