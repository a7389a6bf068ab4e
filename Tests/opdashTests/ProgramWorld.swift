import Dashboard
import Foundation
import JobFiles
import JobModel
import Remote
import Screen
import Support
import Testing

@testable import Session
@testable import opdash

/// The whole program in this process, with a fake feed and pipes as outputs.
@MainActor
final class ProgramWorld {
  let feed = FakeFeed()
  var statuses: [Int32] = []
  var options: RunOptions?
  var graph: JobGraph?
  var plan: RunPlan?
  var session: RunSession?
  var isStarted = false
  var cleanUps = 0
  /// How often a guardian was asked for.
  var supervisions = 0
  var loaded: Result<JobGraph, Faults> = .success(
    JobGraph(name: "g", jobs: [Job(name: "job0", work: .simulate(SimulatedWork()))]))
  /// The text of the job file; nil for `loaded`.
  var text: String?
  var settings: Result<SettingsFile?, Faults> = .success(nil)
  var path: String?
  var listPath: String?
  var vars: [String: String] = [:]
  /// The graph whose cluster jobs were checked, and the fault that is found.
  var checked: JobGraph?
  var clusterFault: UsageError?
  var viewOptions: ViewOptions?
  /// What other programs are shown of the run, and where, while they are.
  var served: (greeting: Greeting, folders: [String])?
  var view: FakeView?
  let output = TemporaryFile()
  let errors = TemporaryFile()
  /// What standard input has.
  let list = TemporaryFile()
  /// What is to be made of it while the run goes on.
  var arriving: EachJobs?
  var environment = Environment(variables: ["HOME": "/h"], currentDirectory: "/w", processors: 7)

  func perform(_ line: String) {
    let parts = ProgramParts(
      load: { path, _, vars, warn in
        (self.path, self.vars) = (path, vars)
        guard let text = self.text else { return try self.loaded.get() }
        return try JobFile.decode(Array(text.utf8), file: path, directory: "/w", warn: warn)
      }, loadSettings: { _ in try self.settings.get() },
      makeRun: { graph, options in
        (self.graph, self.options) = (graph, options)
        return StartableRun(feed: self.feed, start: { self.isStarted = true })
      },
      record: { _, _ in nil },
      makeView: { feed, options, _ in
        self.viewOptions = options
        let view = FakeView(feed)
        self.view = view
        return view
      },
      openScenario: { name, _ in
        self.plan
          ?? RunPlan(
            subject: .graph(JobGraph(name: name)), source: name, closing: { ["it showed \($0.counts.succeeded)"] },
            cleanUp: { [weak self] in self?.cleanUps += 1 })
      },
      readList: { path in
        self.listPath = path
        return "http://h/listed\n"
      },
      serve: { _, greeting, folders in
        self.served = (greeting, folders)
        return { self.served = nil }
      },
      arguments: list.descriptor,
      feed: { _, arriving, _, _ in
        self.arriving = arriving
        return {}
      },
      checkCluster: { graph in
        self.checked = graph
        if let fault = self.clusterFault { throw fault }
      },
      watchSignals: { session in self.session = session })
    let context = CommandContext(
      environment: environment, output: Output(output.descriptor), errors: Output(errors.descriptor), parts: parts,
      supervise: { [weak self] _ in self?.supervisions += 1 },
      end: { [weak self] in self?.statuses.append($0.status) })
    Program(context: context).perform(line.split(separator: " ").map(String.init))
  }

  func performOnTerminal(_ line: String) {
    (environment.inputIsTerminal, environment.outputIsTerminal) = (true, true)
    environment.variables["TERM"] = "xterm"
    perform(line)
  }

  func ends(with status: Int32) async -> Bool { await soon { !self.statuses.isEmpty } && statuses == [status] }

  /// Has the feed obey the commands that end a run.
  func obey() {
    feed.onCommand { feed, command in
      if case .finish(let signal) = command { feed.post(.runFinished(RunSummary(of: feed.run, signal: signal))) }
      if case .stop(let level, let canceller) = command { feed.post(.stopRequested(level, by: canceller)) }
    }
  }

  func state(_ state: JobState) { feed.post(.jobState(JobID(0), state, attempt: 1, pid: nil)) }

  func own(_ change: (inout SettingsFile) -> Void) {
    var file = SettingsFile()
    change(&file)
    settings = .success(file)
  }
}

@MainActor
final class FakeView: LiveView {
  nonisolated let prompt = PromptFlag()
  func closePrompt() {}
  /// What it shows.
  let feed: any JobFeed
  var whenDone: (@MainActor (Departure) -> Void)?
  var isClosed = false

  init(_ feed: any JobFeed) { self.feed = feed }

  func run(whenDone: @escaping @MainActor (Departure) -> Void) throws { self.whenDone = whenDone }
  func suspend() {}
  func showUnrecorded(_ reason: String) {}
  func close() { isClosed = true }
}

/// An unnamed file in place of an output.
///
/// It stays open: a session that its test has left may write later, and must not find another test's file at this number.
final class TemporaryFile {
  private(set) var descriptor: Int32

  init() {
    var path = Array((NSTemporaryDirectory() + "/opdash-XXXXXX").utf8CString)
    descriptor = mkstemp(&path)
    unlink(path)
  }

  var text: String {
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  /// Replaces the content; what reads the descriptor begins at its start.
  func write(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
  }

  func replaceWithClosedPipe() {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return }
    close(ends[0])
    close(descriptor)
    descriptor = ends[1]
  }
}
