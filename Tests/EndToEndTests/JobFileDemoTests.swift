import Foundation
import JobModel
import RunStore
import Support
import Testing

/// The job files of `Demo/jobs`, run by the real program.
struct JobFileDemoTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static let hasCompiler = (try? ChildProcess.run(["sh", "-c", "command -v cc"]).ending) == .exited(0)

  /// A copy of the folder of a file, without what it has left behind here.
  private func place(_ name: String, _ variables: [String: String] = [:]) throws -> Workplace {
    let place = try Workplace(variables)
    let source = Self.root.appending(path: "Demo/jobs/\(name)")
    for entry in try FileManager.default.contentsOfDirectory(atPath: source.path)
    where !["build", "work", "out", "answers", "published"].contains(entry) {
      try FileManager.default.copyItem(at: source.appending(path: entry), to: place.folder.file(entry))
    }
    // The limits of a demonstration are those of a machine that does nothing else.
    let file = try text(place, "opdash.yml").replacing(/timeout: \d+[sm]/, with: "timeout: 1h")
    try place.write(file.replacing("silence: 1s", with: "silence: 10s"), to: "opdash.yml")
    return place
  }

  /// Runs the file to its end, which must be a success, and reads the events.
  private func run(_ place: Workplace, _ words: String...) throws -> Run {
    let program = try place.start(words: ["run", "--ui", "json"] + words)
    #expect(program.ending() == .exited(0), "\(program.errorText)")
    return try run(of: program)
  }

  private func run(of program: Background) throws -> Run {
    var run = Run()
    for event in try Recording(program.outputBytes).events { run.apply(event) }
    return run
  }

  private func text(_ place: Workplace, _ name: String) throws -> String {
    String(decoding: try #require(place.contents(name), "\(name)"), as: UTF8.self)
  }

  /// The names of the jobs in each state, by the word of the state.
  private func names(_ run: Run) -> [String: Set<String>] {
    Dictionary(grouping: run.jobs, by: { StateClass($0).word }).mapValues { Set($0.map(\.job.name)) }
  }

  @Test(arguments: ["c-build", "grid", "noisy", "pipeline", "release"]) func aFileHasNoFaults(name: String) throws {
    let place = try place(name, ["RELEASE_TOKEN": "t0p-s3cret"])
    let check = try place.run("check")
    #expect(check.ending() == .exited(0))
    #expect(check.outputText.hasSuffix(" jobs, no faults\n") && check.errorText == "")
  }

  @Test(.enabled(if: JobFileDemoTests.hasCompiler, "there is no cc"))
  func theCProgramIsBuiltOnceAndThenOnlyWhatHasChanged() throws {
    let place = try place("c-build")
    let first = try run(place)
    #expect(names(first) == ["ok": Set(first.jobs.map(\.job.name))] && first.jobs.count == 17)
    for variant in ["debug", "release"] {
      let count = try place.script("build/\(variant)/count < texts/short.txt")
      #expect(count.outputText == "3 the\n2 queue\n1 job\n")
    }
    #expect(names(try run(place)) == ["up to date": Set(first.jobs.map(\.job.name))])
    // The source of one object: its variants, and what is made of them.
    try place.write(try text(place, "src/words.c") + "\n/* changed */\n", to: "src/words.c")
    let third = names(try run(place))
    // Comments change no byte of a release object, but the debug information tells the length of the file.
    let executed = third["ok"] ?? []
    #expect(executed.isSuperset(of: ["object[debug,words]", "object[release,words]"]))
    #expect(
      executed.allSatisfy { !$0.hasPrefix("object") || $0.hasSuffix("words]") } && !executed.contains("configure"))
    // A program that is wrong fails the tests of its variant, and the run.
    try place.write(try text(place, "src/words.c").replacing("tolower(c)", with: "c"), to: "src/words.c")
    let broken = try place.run("run", "--ui", "json")
    #expect(broken.ending() == .exited(1))
    let failed = try names(run(of: broken))["failed"] ?? []
    #expect(failed == ["test[debug,short]", "test[debug,long]", "test[release,short]", "test[release,long]"])
  }

  @Test func thePipelineLoadsEveryGoodRowByOneWriter() throws {
    let place = try place("pipeline")
    let run = try run(place, "--slots", "8", "--set", "readings=300")
    let states = names(run)
    #expect(states["skipped"] == ["load[moor]"] && states.count == 2 && run.jobs.count == 28)
    // The rows that the stations have counted are those of the table, whose first line is its head.
    let good = run.jobs.compactMap { $0.job.matrix == "clean" ? $0.outputs["good"].flatMap { Int($0) } : nil }
    #expect(good.count == 8 && good.contains(0))
    let rows = good.reduce(0, +)
    let table = try text(place, "work/table.csv").split(separator: "\n")
    #expect(table.count == rows + 1 && rows > 1500)
    #expect(try text(place, "work/report.txt").hasPrefix("\(rows) rows, "))
    // The source was busy once.
    #expect(run.jobs.first { $0.job.name == "fetch[delta]" }?.attempt?.number == 2)
    #expect(!place.has("work/raw") && place.has("work/clean"))
    // Two at once fetch, one at a time loads, with eight slots.
    for (pool, limit) in [("source", 2), ("table", 1)] {
      #expect(most(run.jobs.filter { $0.job.uses[pool] != nil }) <= limit, "\(pool)")
    }
  }

  /// How many of the jobs executed at the same time.
  private func most(_ jobs: [JobRecord]) -> Int {
    let changes = jobs.flatMap { job in
      job.attempts.flatMap { [($0.startedAt, 1), ($0.endedAt ?? $0.startedAt, -1)] }
    }
    var (now, most) = (0, 0)
    for (_, change) in changes.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
      now += change
      most = max(most, now)
    }
    return most
  }

  @Test func aBetaIsPackedAndSignedAndNotPublished() throws {
    let place = try place("release", ["RELEASE_TOKEN": "t0p-s3cret"])
    let run = try run(place)
    #expect(names(run)["skipped"] == ["publish", "announce", "page"])
    #expect(names(run)["ok"]?.count == 14)
    #expect(!place.has("work") && !place.has("published") && !place.has("failed.txt"))
    // The token was printed by four jobs, and is neither shown nor kept.
    let program = try place.run("run", "--ui", "plain")
    #expect(program.outputLines.count { $0.hasSuffix(" with ***") } == 4)
    let kept = try place.script("grep -rlF t0p-s3cret . || echo none")
    #expect(kept.outputText == "none\n", "\(kept.outputText)")
  }

  @Test func aReleaseThatFailsPagesAndCleansUp() throws {
    let place = try place("release", ["RELEASE_TOKEN": "t0p-s3cret"])
    try place.write("#!/bin/sh\nexit 1\n", to: "sign")
    let program = try place.run("run", "--ui", "json")
    #expect(program.ending() == .exited(1))
    let states = try names(run(of: program))
    #expect(states["failed"]?.count == 4 && states["skipped"] == ["publish", "announce"])
    #expect(states["ok"]?.isSuperset(of: ["page", "clean"]) == true)
    #expect(place.has("failed.txt") && !place.has("work"))
  }

  @Test func theGridIsSummedUpInBothDirections() throws {
    let place = try place("grid")
    let run = try run(place)
    #expect(run.jobs.count { $0.job.matrix == "cell" } == 60)
    #expect(names(run) == ["ok": Set(run.jobs.map(\.job.name))])
    // Each cell is counted in the sum of its system and in that of its tool.
    func total(_ name: String) throws -> Int {
      try #require(Int(try text(place, "out/total-\(name)").trimmingCharacters(in: .whitespacesAndNewlines)))
    }
    let systems = try ["linux", "mac", "bsd", "windows"].map(total).reduce(0, +)
    let tools = try ["gcc", "clang", "msvc", "zig"].map(total).reduce(0, +)
    #expect(systems == tools && tools > 0)
    #expect(try total("all") == systems + tools)
    // A part of it, by patterns.
    let part = try self.run(place, "cell[mac,*,size]", "tool[zig]")
    #expect(part.jobs.count { $0.job.matrix == "cell" } == 4 + 16 - 1 && part.jobs.count == 20)
  }

  @Test func theNoiseEndsWellWithAllItsLines() throws {
    let place = try place("noisy")
    let run = try run(place)
    #expect(
      names(run) == [
        "ok": Set(run.jobs.map(\.job.name)).subtracting(["hopeless"]), "allowed to fail": ["hopeless"],
      ])
    #expect(try text(place, "answers/total") == "8000\n")
    func job(_ name: String) throws -> JobRecord { try #require(run.jobs.first { $0.job.name == name }) }
    for number in 1...8 {
      let client = try job("client[\(number)]")
      let lines = (0..<client.log.count).map { client.log[$0].line }
      #expect(lines.count { $0.stream != .note } == 1100, "\(lines.filter { $0.stream == .note }.map(\.text))")
      #expect(client.progress?.done == 1000 && client.progress?.total == 1000)
    }
    // A terminal, or they fail; and a bar from what they have drawn.
    for file in ["north", "south", "east", "west"] { #expect(try job("progress[\(file)]").progress?.done == 100) }
    #expect(try job("quiet").attempt?.number == 2 && job("flaky").attempt?.number == 3)
    #expect(try job("hopeless").attempt?.number == 1 && job("server").attempt?.number == 2)
    #expect(try job("server").log.last?.line.text == "stopped")
    // The server was stopped by its signal once nobody needed it, before the end of the run.
    #expect(try text(place, "answers/log") == "stopped\n")
  }
}
