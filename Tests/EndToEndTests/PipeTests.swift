import Foundation
import Support
import Testing

/// opdash where there is no terminal to draw on, and where what it is told makes no sense.
@Suite struct PipeTests {
  private let place: Workplace

  init() throws {
    place = try Workplace()
    try place.write(
      #"""
      name: small
      slots: 2
      jobs:
        colours: { run: "printf '\\033[31mred\\033[0m \\033[2J\\033]0;owned\\007end\\n'; echo err >&2" }
        steps: { simulate: { duration: 100ms, steps: 10, seed: 2 } }
        refused: { needs: [colours], run: "exit 5", allow_failure: true }
        last: { needs: [refused, steps], run: echo done }
      """#, to: "small.yml")
    try place.write(
      "jobs: { bad: { run: 'touch started; exit 5' }, after: { needs: [bad], run: 'true' } }", to: "bad.yml")
  }

  // MARK: No terminal

  @Test(arguments: [
    [:], ["TERM": "dumb"], ["TERM": "xterm-256color", "NO_COLOR": "1"], ["LC_ALL": "C", "LANG": "C"], ["CI": "1"],
    ["TERM": ""],
  ])
  func aPipeGetsPlainLinesWithoutAnEscape(_ environment: [String: String]) throws {
    let run = try place.script("$OPDASH run small.yml | cat", environment: environment)
    #expect(!run.outputBytes.contains(0x1B))
    #expect(!run.outputBytes.contains(0x07))
    #expect(run.outputText.contains("red end"))
    #expect(run.outputText.contains("small: 3 ok, 1 failed but allowed to in"))
    #expect(run.errorText == "")
  }

  @Test(arguments: [["TERM": "dumb"], ["CI": "1"], ["TERM": ""]])
  func aTerminalThatCannotDrawGetsPlainLines(_ environment: [String: String]) throws {
    let pty = try place.pty("run", "small.yml", "--color=never", environment: environment)
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    pty.pump()
    #expect(!pty.output.contains(0x1B))
    #expect(pty.text.contains("small: 3 ok, 1 failed but allowed to in"))
  }

  @Test func noColourMeansADashboardWithoutColours() throws {
    let pty = try place.pty("run", "small.yml", "--keep-open=always", environment: ["NO_COLOR": "1"])
    #expect(pty.waitUntil { $0.text.contains("Ended after") })
    pty.send("q")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    // 30 to 49 and 90 to 107 are colours; 39 and 49 only take them back.
    let renditions = pty.text.matches(of: #/\u{1B}\[([0-9;]*)m/#).flatMap {
      $0.output.1.split(separator: ";").compactMap { Int($0) }
    }
    #expect(Set(renditions).isDisjoint(with: Set(Array(30...38) + Array(40...48) + Array(90...107))))
  }

  @Test func asciiIsAllThatALocaleWithoutUTF8Gets() throws {
    let pty = try place.pty("run", "small.yml", "--keep-open=always", environment: ["LC_ALL": "C"])
    #expect(pty.waitUntil { $0.text.contains("Ended after") })
    pty.send("q")
    #expect(pty.waitUntil { $0.ending == .exited(0) })
    #expect(pty.output.allSatisfy { $0 < 0x80 })
  }

  // MARK: Machine output

  @Test func jsonIsOneObjectALineNumberedWithoutAGapFromStartToEnd() throws {
    let run = try place.run("run", "small.yml", "--ui", "json")
    #expect(run.ending() == .exited(0))
    #expect(run.errorText == "")
    #expect(!run.outputBytes.contains(0x1B))
    let objects = try run.outputLines.map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(objects.compactMap { $0["seq"] as? Int } == Array(objects.indices))
    #expect(objects.allSatisfy { $0["v"] as? Int == 1 })
    #expect(objects.first?["type"] as? String == "run_started")
    #expect(objects.last?["type"] as? String == "run_finished")
    #expect(objects.last?["exit"] as? Int == 0)
    #expect(objects.last?["succeeded"] as? Int == 3)
    let times = objects.compactMap { ($0["t"] as? NSNumber)?.doubleValue }
    #expect(times.count == objects.count && times == times.sorted())
    let ends = objects.filter {
      $0["type"] as? String == "job_state" && ["succeeded", "failed"].contains($0["state"] as? String)
    }
    #expect(ends.compactMap { $0["job"] as? String }.sorted() == ["colours", "last", "refused", "steps"])
  }

  @Test func quietSaysNothingOfSuccessAndTheFailuresOtherwise() throws {
    let good = try place.run("run", "small.yml", "colours", "steps", "--ui=quiet")
    #expect(good.ending() == .exited(0))
    #expect(good.outputText == "" && good.errorText == "")
    let bad = try place.run("run", "bad.yml", "--ui=quiet")
    #expect(bad.ending() == .exited(1))
    #expect(bad.outputText == "")
    #expect(bad.errorText.contains("! bad  failed: exit 5"))
  }

  @Test func aReaderThatLeavesEndsTheRun() throws {
    let marker = ProcessTable.marker()
    try place.write(
      "jobs: { talk: { run: 'while :; do echo word; sleep 0.02; done' }, nap: { run: [sleep, \"\(marker)\"] } }",
      to: "talk.yml")
    let run = try place.script("{ $OPDASH run talk.yml -j2; echo $? >status; } | head -1")
    #expect(run.ending() == .exited(0))
    #expect(run.outputLines.count == 1)
    #expect(eventually { place.has("status") })
    #expect(eventually { place.contents("status") == Data("141\n".utf8) })
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  // MARK: Faults

  @Test func everyFaultOfAFileIsToldAtOnceAndNothingIsStarted() throws {
    try place.write(
      """
      jobs:
        first: { run: touch started }
        second: { nedes: [first], run: 'true' }
        third: { needs: [frist], run: 'true', timeout: 5 parsecs }
        a: { needs: [b], run: 'true' }
        b: { needs: [a], run: 'true' }
        a: { run: 'true' }
      """, to: "faulty.yml")
    let check = try place.run("check", "faulty.yml")
    #expect(check.ending() == .exited(2))
    // Below each fault is the line of the file, with a mark.
    let faults = check.outputLines.filter { !$0.hasPrefix(" ") }
    #expect(faults.count * 3 == check.outputLines.count)
    #expect(faults.allSatisfy { $0.firstMatch(of: #/^faulty\.yml:\d+:\d+: /#) != nil })
    for part in ["needs", "'first'", "parsecs", "a -> b -> a", "faulty.yml:7:"] {
      #expect(faults.contains { $0.contains(part) }, "nothing of \(part) in \(check.outputText)")
    }
    let run = try place.run("run", "faulty.yml")
    #expect(run.ending() == .exited(2))
    #expect(run.errorText == check.outputText)
    #expect(run.outputText == "")
    #expect(!place.has("started"))
    #expect(!place.has("state/opdash/runs"))
  }

  @Test func theLineOfAFaultIsCutToTheTerminal() throws {
    try place.write("jobs: { a: { x-a: \"\(String(repeating: "word ", count: 60))\", rn: ls } }", to: "wide.yml")
    let pty = try place.pty(columns: 50, "check", "wide.yml")
    #expect(pty.waitUntil { $0.ending == .exited(2) })
    let lines = String(decoding: pty.output, as: UTF8.self).split(whereSeparator: \.isNewline)
    #expect(lines.count == 3)
    #expect(lines.dropFirst().allSatisfy { $0.count <= 50 })
    #expect(lines.dropFirst().first?.contains("…") == true && lines.last?.hasSuffix("^~") == true)
  }

  @Test func aGoodFileHasNoFaults() throws {
    let check = try place.run("check", "small.yml")
    #expect(check.ending() == .exited(0))
    #expect(check.outputText == "small.yml: 4 jobs, no faults\n")
  }

  @Test(arguments: [
    (["run", "bad.yml", "--slotz", "3"], "--slots"), (["rum", "bad.yml"], "run"), (["run", "bad.yml", "baad"], "bad"),
    (["run", "nowhere.yml"], "nowhere.yml"), (["demo", "colect"], "collect"),
    (["run", "bad.yml", "--ui", "jsom"], "json"),
    (["run"], "job file"), (["run", "bad.yml", "--slots=0"], "--slots"), ([], "--help"),
  ])
  func whatIsNotUnderstoodStartsNothingAndNamesTheNearest(_ words: [String], _ hint: String) throws {
    let run = try place.script("\"$OPDASH\" " + words.joined(separator: " "))
    #expect(run.ending() == .exited(2))
    #expect(run.errorText.split(separator: "\n").count == 1, "\(run.errorText)")
    #expect(run.errorText.contains(hint), "\(run.errorText)")
    #expect(run.outputText == "")
    #expect(!place.has("started"))
  }

  @Test func namedJobsRunWithWhatTheyNeed() throws {
    let run = try place.run("run", "small.yml", "refused", "--ui", "json")
    #expect(run.ending() == .exited(0))
    #expect(run.outputText.contains(#""job":"colours""#))
    #expect(!run.outputText.contains(#""job":"steps""#))
  }
}
