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

  @Test(arguments: [(80, 24, 1), (60, 24, 1), (50, 24, 2), (30, 5, 3)])
  func ofSeveralJobsAllQuestionsAreShown(_ width: Int, _ height: Int, _ rows: Int) {
    var bench = bench(asking: ["release", "deploy"], size: Size(width: width, height: height))
    tag(["release", "deploy"], &bench)
    bench.press(.character("a"))
    #expect(bottom(rows, bench).contains("Approve release (Publish v1.2?), deploy (Deploy?)?"))
    #expect(bench.frame().text(row: height - 1).contains(" y "))
  }

  private func tag(_ names: [String], _ bench: inout Bench) {
    for name in names {
      bench.select(name)
      bench.press(.character(" "))
    }
  }

  /// The last rows of the screen in one line, with single blanks between the words.
  private func bottom(_ rows: Int, _ bench: Bench) -> String {
    bench.frame(GoldenTests.utf8).text.split(separator: "\n", omittingEmptySubsequences: false).suffix(rows)
      .flatMap { $0.split(separator: " ") }.joined(separator: " ")
  }

  private static let long =
    "Publish version ${jobs.build.tag} of the library, the program and the documentation to the production registry "
    + "of the company at eu-west?"

  /// `release` asks this.
  private func bench(question: String, _ width: Int, _ height: Int) -> Bench {
    var release = Job.shell("release", needs: [JobNeed(JobID(0))])
    release.approval = question
    var builder = RunBuilder([.shell("build"), release, .shell("other")])
    builder.move("build", .executing)
    builder.state(.jobOutputs(JobID(0), ["tag": "v1.2"]))
    builder.move("build", .succeeded(upToDate: false))
    builder.move("other", .executing)
    builder.move("release", .ready(for: .person))
    return Bench(builder, size: Size(width: width, height: height))
  }

  @Test(arguments: [(80, 24, 3), (40, 12, 6)])
  func aLongQuestionTakesAsManyLinesAsItNeeds(_ width: Int, _ height: Int, _ rows: Int) {
    var bench = bench(question: Self.long, width, height)
    bench.press(.character("a"))
    let question = Self.long.replacing("${jobs.build.tag}", with: "v1.2")
    #expect(bottom(rows, bench).hasSuffix("Approve release: \(question) y approves Esc goes back"))
    bench.press(.character("y"))
    #expect(bench.commands == [.approve([JobID(1)])])
  }

  @Test func aWideQuestionLosesNoCharacter() {
    let question = "本当に公開しますか?本番環境の全利用者に直ちに配布されます。取り消せません。"
    var bench = bench(question: question, 40, 12)
    bench.press(.character("a"))
    #expect(bottom(4, bench).replacing(" ", with: "").contains(question))
  }

  @Test func aQuestionThatHasNoRoomOpensThePageOfItsJob() {
    var bench = bench(question: String(repeating: "really ", count: 100) + "delete?", 40, 12)
    bench.select("other")
    bench.press(.character("a"))
    #expect(bench.model.prompt == nil && bench.model.page == .zoom && bench.cursor == "release")
    #expect(bench.model.notice?.text == "its question is long: a approves")
    bench.press(.end)
    #expect(bench.frame().text.contains("delete?"))
    bench.press(.character("a"))
    #expect(bench.frame().text(row: 11).hasSuffix("y approves  Esc goes back"))
    bench.press(.character("y"))
    #expect(bench.commands == [.approve([JobID(1)])])
  }

  @Test func questionsThatHaveNoRoomTogetherAreNotAsked() {
    var bench = bench(asking: ["release", "deploy"], size: Size(width: 80, height: 24))
    tag(["release", "deploy"], &bench)
    bench.press(.character("a"))
    bench.send(.resized(Size(width: 30, height: 5)))
    #expect(bench.model.prompt != nil)
    var long = RunBuilder(
      (0..<40).map { number in
        var job = Job.shell("job-\(number)")
        job.approval = "Start number \(number) on the production machine?"
        return job
      })
    for number in 0..<40 { long.move("job-\(number)", .ready(for: .person)) }
    bench = Bench(long)
    bench.press(.character("A"), .character("a"))
    let notice = "the questions of 40 jobs have no room on the screen: approve fewer at once"
    #expect(bench.model.notice?.text == notice)
    bench.press(.character("y"))
    #expect(bench.model.prompt == nil && bench.commands.isEmpty && bench.model.page == .list)
  }

  @Test func aQuestionGoesWhereTheScreenHasNoRoomForItAnyMore() {
    var bench = bench(question: Self.long, 80, 24)
    bench.press(.character("a"))
    bench.send(.resized(Size(width: 40, height: 12)))
    #expect(bench.model.prompt == .confirm(.approve, [JobID(1)]))
    bench.send(.resized(Size(width: 30, height: 5)))
    bench.press(.character("y"))
    #expect(bench.model.prompt == nil && bench.commands.isEmpty)
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
