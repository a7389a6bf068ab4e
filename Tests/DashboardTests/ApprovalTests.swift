import JobModel
import Screen
import Testing

@testable import Dashboard

/// What a dashboard shows of a job that waits for a person, and the key that lets it start.
struct ApprovalTests {
  /// `build` writes a value that the question of `release` has; `deploy` asks without one.
  private func bench(asking: [String], size: Size = Size(width: 80, height: 24)) -> Bench {
    var release = Job.shell("release")
    release.needs = [JobNeed(JobID(1))]
    release.approval = "Publish ${jobs.build.tag}?"
    var deploy = Job.shell("deploy")
    deploy.approval = "Deploy?"
    var builder = RunBuilder([.shell("other"), .shell("build"), release, deploy])
    builder.move("other", .executing)
    builder.move("build", .executing)
    builder.state(.jobOutputs(JobID(1), ["tag": "v1.2"]))
    builder.move("build", .succeeded(upToDate: false))
    for name in asking { builder.move(name, .ready(for: .person)) }
    return Bench(builder, size: size)
  }

  @Test func theQuestionIsAcrossTheScreenWithItsKeyAndItsJobIsTheFirst() {
    let bench = bench(asking: ["release"])
    let text = bench.frame().text
    #expect(text.contains("release asks: Publish v1.2?"))
    #expect(text.contains("a approves"))
    #expect(text.contains("waits for approval: Publish v1.2?"))
    #expect(bench.model.order.rows.first == JobID(2))
  }

  @Test func ofSeveralQuestionsOneIsShownAndTheOthersAreCounted() {
    let bench = bench(asking: ["release", "deploy"])
    #expect(bench.frame().text.contains("release asks: Publish v1.2? (and 1 more job)"))
  }

  @Test func theKeySaysWhatIsApprovedBeforeItIs() {
    var bench = bench(asking: ["release", "deploy"])
    bench.select("deploy")
    #expect(bench.frame().text(row: 23).contains("a approve"))
    bench.press(.character("a"))
    #expect(bench.commands.isEmpty)
    #expect(bench.frame().text(row: 23).hasPrefix(" Approve deploy: Deploy?  y approves  Esc goes back"))
    bench.press(.character("y"))
    #expect(bench.commands == [.approve([JobID(3)])])
    #expect(bench.model.notice?.text == "approved deploy")
  }

  @Test(arguments: [Key.enter, .character("Y"), .character("a"), .character("x"), .character(" "), .down, .tab])
  func onlyAYesApproves(_ key: Key) {
    var bench = bench(asking: ["release"])
    bench.press(.character("a"), key)
    #expect(bench.commands.isEmpty && bench.model.prompt == .confirm(.approve, [JobID(2)]))
    bench.press(.escape)
    #expect(bench.commands.isEmpty && bench.model.prompt == nil)
  }

  @Test func aJobThatAsksAnewIsNotApprovedByTheOldQuestion() {
    var bench = bench(asking: ["release", "deploy"])
    bench.select("release")
    bench.press(.character("a"))
    bench.play {
      $0.move("release", .waiting)
      $0.state(.jobOutputs(JobID(1), ["tag": "v6.6"]))
      $0.move("release", .ready(for: .person))
    }
    #expect(bench.model.prompt == nil)
    bench.press(.character("y"))
    #expect(bench.commands.isEmpty)
  }

  @Test func aQuestionThatIsAnsweredElsewhereApprovesNoOther() {
    var bench = bench(asking: ["release", "deploy"])
    bench.select("other")
    bench.press(.character("a"))
    bench.play { $0.move("release", .executing) }
    bench.press(.character("y"))
    #expect(bench.commands.isEmpty && bench.model.prompt == nil)
  }

  @Test func onAnotherRowTheFirstJobThatAsksIsNamed() {
    var bench = bench(asking: ["release"])
    bench.select("other")
    bench.press(.character("a"))
    #expect(bench.commands.isEmpty)
    #expect(bench.frame().text(row: 23).contains("Approve release: Publish v1.2?"))
    bench.press(.character("y"))
    #expect(bench.commands == [.approve([JobID(2)])])
  }

  @Test func allTaggedJobsThatAskAreApproved() {
    var bench = bench(asking: ["release", "deploy"])
    for name in ["release", "deploy", "other"] {
      bench.select(name)
      bench.press(.character(" "))
    }
    bench.press(.character("a"))
    #expect(bench.commands.isEmpty)
    bench.press(.character("y"))
    #expect(bench.commands == [.approve([JobID(2), JobID(3)])])
  }

  @Test func aRunWithoutQuestionsHasNoSuchKey() {
    var bench = bench(asking: [])
    #expect(!bench.frame().text.contains("asks"))
    #expect(!bench.frame().text(row: 23).contains("approve"))
    bench.press(.character("a"))
    #expect(bench.commands.isEmpty)
    #expect(bench.model.notice?.text == "no job waits for approval")
  }

  @Test func theClockGoesOnWhileAJobWaitsForAPerson() {
    var bench = bench(asking: ["release"])
    bench.play { $0.move("other", .succeeded(upToDate: false)) }
    bench.now = .seconds(75)
    #expect(bench.frame().text(row: 0).contains(" 1:15 "))
    #expect(bench.model.isMoving)
  }

  @Test(arguments: [(80, "release (Publish v1.2?), deploy (Deploy?)"), (60, "release, deploy")])
  func ofSeveralJobsTheQuestionsAreShownWhereThereIsRoom(_ width: Int, _ who: String) {
    var bench = bench(asking: ["release", "deploy"], size: Size(width: width, height: 24))
    for name in ["release", "deploy"] {
      bench.select(name)
      bench.press(.character(" "))
    }
    bench.press(.character("a"))
    #expect(bench.frame().text(row: 23).contains("Approve \(who)?"))
  }

  @Test func theQuestionGoesWithItsAnswer() {
    var bench = bench(asking: ["release"])
    bench.press(.character("a"), .character("y"))
    bench.play { $0.move("release", .executing) }
    #expect(!bench.frame().text.contains("asks"))
  }
}

/// The keys that change the size of a pool.
struct PoolKeyTests {
  private func bench(_ uses: [[String: Int]], pools: [String: Int]) -> Bench {
    let jobs = uses.enumerated().map { index, uses in
      var job = Job.shell("\(index)")
      job.uses = uses
      return job
    }
    var builder = RunBuilder(jobs, pools: pools)
    for index in uses.indices { builder.move("\(index)", index == 0 ? .executing : .ready(for: .slot)) }
    return Bench(builder)
  }

  @Test func theyChangeThePoolOfTheCursorsJob() {
    var bench = bench([["net": 1], ["heavy": 1]], pools: ["heavy": 2, "net": 4])
    bench.select("0")
    bench.press(.character(")"))
    #expect(bench.model.notice?.text == "pool net: 5 units")
    bench.select("1")
    bench.press(.character("("))
    #expect(bench.commands == [.changePool("net", by: 1), .changePool("heavy", by: -1)])
  }

  @Test func ofSeveralPoolsTheOneThatTheJobWaitsForIsChanged() {
    var bench = bench([["heavy": 1, "net": 1]], pools: ["heavy": 2, "net": 4])
    bench.select("0")
    bench.press(.character(")"))
    bench.play { $0.move("0", .ready(for: .pool("net"))) }
    bench.press(.character(")"))
    #expect(bench.commands == [.changePool("heavy", by: 1), .changePool("net", by: 1)])
  }

  @Test func aJobWithoutPoolChangesTheOnlyOneOfTheRun() {
    var bench = bench([[:]], pools: ["heavy": 2])
    bench.press(.character(")"))
    #expect(bench.commands == [.changePool("heavy", by: 1)])
  }

  @Test func aPoolKeepsTheUnitsThatAJobNeedsAtOnce() {
    var bench = bench([["heavy": 3], ["heavy": 1]], pools: ["heavy": 3])
    bench.press(.character("("))
    #expect(bench.commands.isEmpty)
    #expect(bench.model.notice?.text == "a job needs 3 units of pool heavy at once")
  }

  @Test func oneUnitIsTheLeastAndWithoutPoolsThereIsNothingToChange() {
    var one = bench([["net": 1]], pools: ["net": 1])
    one.press(.character("("))
    #expect(one.commands.isEmpty)
    #expect(one.model.notice?.text == "one unit is the least of pool net")
    var none = bench([[:]], pools: [:])
    none.press(.character(")"))
    #expect(none.commands.isEmpty)
    #expect(none.model.notice?.text == "this job uses no pool")
  }
}

/// The size of the terminals of jobs follows the log pane.
@MainActor @Suite struct TerminalSizeTests {
  private func stage(hasTerminal: Bool) throws -> Stage {
    let work = ShellWork(.script("make"), hasTerminal: hasTerminal)
    var builder = RunBuilder([Job(name: "make", work: .shell(work)), .shell("other")])
    builder.move("make", .executing)
    return try Stage(builder)
  }

  @Test func itIsSentWithTheFirstFrameAndWhenThePaneChanges() throws {
    let stage = try stage(hasTerminal: true)
    // A line of the pane has its time, and a blank cell at each end.
    #expect(stage.feed.commands == [.setTerminalSize(columns: 69, rows: 7)])
    stage.clock.advance(by: .seconds(1))
    stage.press(.character("l"))
    stage.clock.advance(by: .seconds(1))
    #expect(stage.feed.commands.dropFirst() == [.setTerminalSize(columns: 69, rows: 20)])
    // A pane that is off leaves the size as it is.
    stage.press(.character("l"))
    stage.clock.advance(by: .seconds(1))
    #expect(stage.feed.commands.count == 2)
  }

  @Test func withoutAJobThatHasATerminalNoneIsSent() throws {
    #expect(try stage(hasTerminal: false).feed.commands.isEmpty)
  }
}
