import Foundation
import JobModel
import RunStore
import Support
import Testing

/// One graph of 200 jobs, executed by a cluster and by this machine.
@Suite(
  .enabled(if: SlurmCluster.isInstalled, Comment(rawValue: SlurmCluster.why)), .serialized)
struct ClusterGraphTests {
  private static let layers = 4
  private static let width = 50

  /// Four layers of fifty jobs, each of which writes a file and needs two of the layer before.
  private static let jobFile: String = {
    var lines = ["name: both", "slots: 6", "defaults: { slurm: { cpus: 1, memory: 50M, time: 10m } }", "jobs:"]
    for index in 0..<(layers * width) {
      let (layer, place) = (index / width, index % width)
      let needs = layer == 0 ? [] : Set([index - width, (layer - 1) * width + (place * 7 + 1) % width]).sorted()
      var keys = ["needs: [\(needs.map(name).joined(separator: ", "))]"]
      // A value goes down through the layers.
      let value = layer == 0 || place != 7 ? "" : " ${jobs.\(name(index - width)).trace}"
      let work = "echo \(name(index)) attempt $OPDASH_ATTEMPT\(value) >>files/\(name(index))"
      var script = work
      switch place {
      case 3 where layer == 1: script += "; echo it does not work >&2; exit 3"
      case 4 where layer == 1: script += "; kill -KILL $$"
      case 5:
        script += "; [ $OPDASH_ATTEMPT -ge 2 ]"
        keys.append("retry: { max: 2, initial: 10ms }")
      case 6 where layer == 2:
        script += "; exit 4"
        keys += ["retry: { max: 1, initial: 10ms }", "allow_failure: true"]
      case 7: script += "; echo \"trace=\(layer)\(value)\" >>$OPDASH_OUTPUT"
      case 8 where layer == 2:
        // No work that it may have done by then, or not.
        script = "exec sleep 1000"
        keys.append("timeout: 1s")
      case 9: keys.append("slurm: { cpus: 2, memory: 200M }")
      default: break
      }
      lines.append("  \(name(index)): { \(keys.joined(separator: ", ")), run: '\(script)' }")
    }
    return lines.joined(separator: "\n") + "\n"
  }()

  private static func name(_ index: Int) -> String { "job\(index)" }

  /// What a run of the file has left.
  private struct Result {
    var run: Run
    var files: [String: String]
    var status: Int?
    /// The screens of the views after the end, by what they show.
    var screens: [(view: String, text: String)]
  }

  private func result(on engine: String, _ variables: [String: String]) async throws -> Result {
    let place = try Workplace(variables, files: ["opdash.yml": Self.jobFile])
    try FileManager.default.createDirectory(at: place.folder.file("files"), withIntermediateDirectories: false)
    let window = try place.window(columns: 120, rows: 40, "run", "--on", engine, "--keep-open=always", "--ascii")
    try await window.soonSees("the end on \(engine)") { $0.text.contains("Ended after") }
    let screens = try await screens(of: window, on: engine)
    try window.press("q")
    let status = try window.exitStatus()
    let store = try RunStore(folder: place.folder.file("state/opdash").path)
    var run = Run()
    for event in try store.events(of: store.run(named: "last")) { run.apply(event) }
    let names = place.folder.names(in: "files")
    let files = names.map { ($0, String(decoding: place.contents("files/\($0)") ?? Data(), as: UTF8.self)) }
    return Result(run: run, files: Dictionary(uniqueKeysWithValues: files), status: status, screens: screens)
  }

  /// Shows each view, the list by name, whose order does not depend on times.
  private func screens(of window: Window, on engine: String) async throws -> [(view: String, text: String)] {
    let steps: [(view: String, keys: [String], sign: String)] = [
      ("list", ["1", ">"], "sorted by name"), ("list", ["Home"], "sorted by name  1/200"), ("list", ["End"], "200/200"),
      ("tree", ["2"], "tree by needs"), ("tree", ["Home"], "tree by needs  1/"), ("timeline", ["3"], ": expected"),
      ("critical path", ["4"], "SAVES"), ("events", ["5"], "EVENT"),
    ]
    try window.choose("job53", of: Self.layers * Self.width)
    try await window.soonSees("the keys of a filtered list") { $0.text.contains("Esc clear filter") }
    var screens = [(view: "failure", text: try window.screen().text)]
    try window.showAll()
    for step in steps {
      for key in step.keys { try window.press(key) }
      // A screen may be half drawn: the help between changes the lowest line, which is drawn last.
      try window.press("?")
      try await window.soonSees("the help") { $0.lines.last?.contains("Esc back") == true }
      try window.press("Escape")
      var last = ""
      try await window.soonSees("\(step.view) on \(engine)") { screen in
        last = screen.text
        return screen.text.contains(step.sign) && screen.lines.last?.contains("Esc back") == false
      }
      // The cursor is on the job that failed last until it is moved.
      if step.keys != ["1", ">"], step.keys != ["2"] { screens.append((step.view, last)) }
    }
    return screens
  }

  @Test func aGraphHasTheSameResultsAndTheSameLastScreenOnAClusterAsHere() async throws {
    // Of its own, because one with few processors takes half a minute.
    let cluster = try SlurmCluster(cpus: 8)
    let here = try await result(on: "local", [:])
    let there = try await result(on: "slurm", cluster.environment)
    #expect(there.status == 1 && here.status == 1)
    #expect(there.files == here.files)
    #expect(there.run.counts == here.run.counts)
    #expect(there.run.jobs.count == Self.layers * Self.width && here.run.counts.skipped > 0)
    for (one, other) in zip(here.run.jobs, there.run.jobs) {
      #expect(one.state == other.state, "\(one.job.name)")
      #expect(one.attempts.map(\.number) == other.attempts.map(\.number), "\(one.job.name)")
      #expect(one.attempts.map(\.failure) == other.attempts.map(\.failure), "\(one.job.name)")
      #expect(one.outputs == other.outputs, "\(one.job.name)")
      #expect(other.attempts.isEmpty || other.place?.nodes != nil, "\(one.job.name)")
    }
    for (one, other) in zip(here.screens, there.screens) {
      #expect(Self.comparable(one) == Self.comparable(other), "\(one.view)")
    }
  }

  /// What a view shows on both engines alike: without times, folders, nodes and notes.
  ///
  /// The timeline, the critical path and the events consist of times: of them the lines around are compared.
  private static func comparable(_ screen: (view: String, text: String)) -> [String] {
    let lines = screen.text.split(separator: "\n").map(String.init)
    let around = (lines.prefix(3) + lines.suffix(1)).map(masked)
    guard let end = lines.firstIndex(where: { $0.hasPrefix("-- log: ") }),
      ["list", "tree", "failure"].contains(screen.view)
    else { return around }
    // The panel beside the list has the folder, the node and the waits.
    let list = lines[3..<end].map { masked($0.prefix(listWidth)) }
    let log = lines[(end + 1)...].map { masked($0.prefix(listWidth)).replacing("|", with: "") }
    return around + list + log.filter { $0.hasSuffix("it does not work") }
  }

  private static let listWidth = 77

  /// A line without times and without the number of blanks.
  private static func masked(_ line: some StringProtocol) -> String {
    String(line).replacing(/[0-9]+:[0-9.]+|[0-9.]+s\b/, with: "T ").split(separator: " ").joined(separator: " ")
  }
}
