import JobModel
import Screen
import Testing

@testable import Dashboard

/// The command or the change of the view for each key.
struct KeyTests {
  /// A key on a job of the rich run and the command that it sends.
  struct Case: CustomTestStringConvertible, Sendable {
    var key: Key
    var job: String
    var command: JobCommand?
    var testDescription: String { "\(key) on \(job)" }

    init(_ key: Key, _ job: String, _ command: (JobID) -> JobCommand?) {
      self.key = key
      self.job = job
      self.command = RichRun.builder().run.id(named: job).flatMap(command)
    }
  }

  static let cases: [Case] = [
    Case(.character("x"), "fetch") { .cancel([$0], by: .person) },
    Case(.function(9), "build[linux]") { .cancel([$0], by: .person) },
    Case(.character("x"), "checkout") { _ in nil },
    Case(.character("X"), "unit-tests") { .kill([$0]) },
    Case(.character("X"), "warm-cache") { .kill([$0]) },
    Case(.character("X"), "build[linux]") { _ in nil },
    Case(.character("p"), "fetch") { .pause([$0]) },
    Case(.function(7), "build[linux]") { .pause([$0]) },
    Case(.character("p"), "notify") { .pause([$0]) },
    Case(.character("p"), "warm-cache") { .resume([$0]) },
    Case(.character("p"), "archive") { .resume([$0]) },
    Case(.character("p"), "lint") { _ in nil },
    Case(.character("r"), "lint") { .retry([$0], withDependents: false) },
    Case(.function(8), "docs") { .retry([$0], withDependents: false) },
    Case(.character("r"), "flaky-bench") { .retry([$0], withDependents: false) },
    Case(.character("r"), "publish") { _ in nil },
    Case(.character("r"), "fetch") { _ in nil },
    Case(.character("R"), "lint") { .retry([$0], withDependents: true) },
    Case(.character("R"), "docs") { .retry([$0], withDependents: true) },
    Case(.character("R"), "sign") { .retry([$0], withDependents: true) },
    Case(.character("]"), "build[linux]") { .setPriority([$0], .high) },
    Case(.character("["), "build[mac]") { .setPriority([$0], .normal) },
    Case(.character("]"), "fetch") { _ in nil },
    Case(.character("+"), "fetch") { _ in .changeSlots(by: 1) },
    Case(.character("="), "fetch") { _ in .changeSlots(by: 1) },
    Case(.character("-"), "fetch") { _ in .changeSlots(by: -1) },
    Case(.character("P"), "fetch") { _ in .setDraining(true) },
  ]

  @Test(arguments: cases)
  func aKeySendsItsCommandOrSaysWhyNot(_ item: Case) {
    var bench = Bench(RichRun.builder())
    bench.select(item.job)
    bench.press(item.key)
    #expect(bench.commands == (item.command.map { [$0] } ?? []))
    #expect(bench.model.notice != nil)
  }

  @Test func everyActionHasAKeyAndNoKeyTwoActions() {
    // A replay is held by the key that tags in a run.
    for action in Command.all where action != .hold {
      #expect(KeyMap.standard.bindings.contains { $0.command == action && !$0.keys.isEmpty }, "\(action)")
    }
    #expect(KeyMap.standard.forReplay.command(for: .character(" ")) == .hold)
    #expect(KeyMap.standard.forReplay.keys(of: .tag) == [] && KeyMap.standard.keys(of: .hold) == [])
    let keys = KeyMap.standard.bindings.flatMap(\.keys)
    #expect(Set(keys).count == keys.count)
  }

  @Test func everyFunctionKeyHasALetter() {
    for binding in KeyMap.standard.bindings {
      let hasFunctionKey = binding.keys.contains { if case .function = $0 { true } else { false } }
      let hasLetter = binding.keys.contains { if case .character = $0 { true } else { false } }
      #expect(!hasFunctionKey || hasLetter)
    }
  }

  @Test func helpNamesEveryKey() {
    var bench = Bench(RichRun.builder(), size: Size(width: 200, height: 70))
    bench.press(.character("?"))
    let text = bench.frame().text
    for binding in KeyMap.standard.bindings where binding.command.isOffered(bench.model) {
      guard let name = binding.keys.first?.name() else { continue }
      #expect(text.split { $0 == " " || $0 == "\n" }.contains { $0 == name }, "\(binding.command)")
    }
    for state in StateClass.allCases { #expect(text.contains(state.word)) }
    bench.press(.escape)
    #expect(bench.model.page == .list)
  }

  @Test func everyActionHasOneLineOfTheHelpPage() {
    let lines = Command.groups.flatMap(\.lines)
    let actions = lines.flatMap(\.commands)
    #expect(Set(actions) == Set(Command.all) && actions.count == Command.all.count)
  }

  @Test(arguments: [(80, 24), (120, 40), (200, 60), (100, 30)])
  func theHelpPageFitsItsScreen(_ width: Int, _ height: Int) {
    for traits in [GoldenTests.utf8, GoldenTests.ascii] {
      var bench = Bench(RichRun.builder(), size: Size(width: width, height: height))
      bench.press(.character("?"))
      let text = bench.frame(traits).text
      for words in [
        "Moving", "Showing", "The run", "The log", "Jobs", "Marks", "Filter", "critical", "!word", "? help",
      ] {
        #expect(text.contains(words), "\(words)\n\(text)")
      }
    }
  }

  @Test(arguments: [true, false]) func theHelpHasTheKeyThatDetachesWhereItWorks(_ works: Bool) {
    var options = DashboardOptions(timeZone: .gmt)
    options.canDetach = works
    for (width, height) in [(80, 24), (120, 40)] {
      var bench = Bench(RichRun.builder(), size: Size(width: width, height: height), options: options)
      bench.press(.character("?"))
      let text = bench.frame().text
      #expect(
        text.contains(width == 80 ? "q F10 D     quit; leave it running" : "D           leave the run running") == works
      )
      #expect(text.contains("quit; asks while jobs run") == (!works || width == 120))
      // All of it.
      #expect(text.contains("!word") && bench.model.pageTop == 0 && HelpPage.height(bench.model) <= height - 1)
      bench.press(.escape, .character(":"))
      bench.type("leave")
      #expect(bench.frame().text.contains("leave the run running") == works)
    }
    var wide = Bench(RichRun.builder(), size: Size(width: 300, height: 24), options: options)
    wide.press(.escape)
    #expect(wide.frame().text(row: 23).contains("D detach") == works)
  }

  @Test func theBottomLineShowsOnlyWhatDoesSomething() {
    var bench = Bench(RichRun.builder())
    bench.select("checkout")
    let done = bench.frame().text(row: 23)
    #expect(!done.contains("cancel") && !done.contains("pause") && !done.contains("retry"))
    bench.select("fetch")
    let running = bench.frame().text(row: 23)
    #expect(running.contains("x cancel") && running.contains("p pause") && !running.contains("retry"))
    bench.select("warm-cache")
    #expect(bench.frame().text(row: 23).contains("p resume"))
  }

  @Test(arguments: 30...140)
  func theBottomLineFitsEveryWidthAndKeepsHelpAndQuit(_ width: Int) {
    var bench = Bench(RichRun.builder(), size: Size(width: width, height: 24))
    bench.press(.enter)
    let line = bench.frame().text(row: 23)
    #expect(line.contains("? help") && line.contains("q quit"))
  }

  @Test func tagsTakeTheActionsFromTheCursor() {
    var bench = Bench(RichRun.builder())
    bench.select("fetch")
    bench.press(.character(" "))
    bench.select("migrate")
    bench.press(.character(" "))
    bench.select("lint")
    bench.press(.character("x"), .character("y"))
    guard case .cancel(let ids, by: .person) = bench.commands.first else {
      Issue.record("no cancel: \(bench.commands)")
      return
    }
    #expect(bench.names(ids) == ["fetch", "migrate"])
    bench.press(.character("U"))
    #expect(bench.model.tags.isEmpty)
  }

  @Test func tagWithDependentsTagsAllTransitiveDependents() {
    var bench = Bench(RichRun.builder())
    bench.select("lint")
    bench.press(.character("c"))
    #expect(Set(bench.names(Array(bench.model.tags))) == ["lint", "publish", "tag", "cleanup"])
  }

  @Test func raisingMixedPrioritiesSendsOneCommandALevel() {
    var bench = Bench(RichRun.builder())
    for name in ["build[linux]", "build[mac]", "index"] {
      bench.select(name)
      bench.press(.character(" "))
    }
    bench.press(.character("]"))
    #expect(bench.commands.count == 2)
    #expect(bench.commands.contains { if case .setPriority(let ids, .high) = $0 { ids.count == 2 } else { false } })
    #expect(bench.commands.contains { if case .setPriority(let ids, .veryHigh) = $0 { ids.count == 1 } else { false } })
  }

  // MARK: Quitting

  @Test func quitAsksWhileJobsRunAndStaysOnEscape() {
    var bench = Bench(RichRun.builder())
    bench.press(.character("q"))
    #expect(bench.model.prompt == .quit)
    #expect(bench.frame().text(row: 23).contains("7 jobs are running"))
    bench.press(.escape)
    #expect(bench.model.prompt == nil)
    #expect(bench.effects.isEmpty)
  }

  @Test func quittingStopsThenKillsThenLeaves() {
    var bench = Bench(RichRun.builder())
    bench.press(.character("q"), .character("y"))
    #expect(bench.commands == [.stop(.terminate, by: .person)])
    bench.play { $0.state(.stopRequested(.terminate, by: .person)) }
    #expect(bench.frame().text.contains("Stopping 7 jobs: fetch, unit-tests, migrate,"))
    bench.press(.character("q"))
    #expect(bench.commands.last == .stop(.kill, by: .person))
    bench.play { $0.state(.stopRequested(.kill, by: .person)) }
    bench.press(.character("q"))
    #expect(bench.effects.last == .leave(.abandoned))
  }

  @Test func aStoppedRunIsLeftWhenItsLastJobHasGone() {
    var bench = Bench(RichRun.builder())
    bench.play { $0.state(.stopRequested(.terminate, by: .signal)) }
    #expect(bench.frame().text.contains("Ctrl-C kills now"))
    for name in ["fetch", "unit-tests", "migrate", "warm-cache", "assets", "stubborn"] {
      bench.play { $0.move(name, .cancelled(by: .signal)) }
      #expect(bench.effects.isEmpty)
    }
    bench.play { $0.move("upload-symbols", .cancelled(by: .signal)) }
    #expect(bench.effects == [.leave(.stopped)])
  }

  @Test func aRunThatAPolicyStoppedStaysOpenForItsFailure() {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.move("a", .executing)
    builder.move("b", .executing)
    builder.move("a", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    builder.state(.stopRequested(.terminate, by: .policy))
    var bench = Bench(builder)
    #expect(bench.frame().text.contains("a failed: exit 1. Stopping 1 job: b"))
    bench.play { $0.move("b", .cancelled(by: .policy)) }
    #expect(bench.effects.isEmpty)
    bench.press(.character("q"))
    #expect(bench.effects == [.leave(.quit)])
  }

  @Test func aRunThatIsOverIsLeftWithoutAQuestion() {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    builder.move("a", .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    var bench = Bench(builder)
    #expect(bench.frame().text.contains("Ended after"))
    bench.press(.character("q"))
    #expect(bench.effects == [.leave(.quit)])
  }

  @Test func theQuestionIsClosedWhenTheRunEnds() {
    var builder = RunBuilder([.shell("a")])
    builder.move("a", .executing)
    var bench = Bench(builder)
    bench.press(.character("q"))
    bench.play { $0.move("a", .failed(JobFailure(.exit(1), "exit 1"), allowed: false)) }
    #expect(bench.model.prompt == nil)
  }

  @Test(arguments: [(false, "release: done 2/2"), (true, "release: 1 of 2 failed")])
  func theEndIsNotifiedOnceIfConfigured(_ fails: Bool, _ text: String) {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.move("a", .executing)
    builder.move("a", .succeeded(upToDate: false))
    builder.move("b", .executing)
    for notice in EndNotice.allCases {
      var options = DashboardOptions(keepOpen: .always, source: "g")
      options.notice = notice
      var bench = Bench(builder, options: options)
      bench.play {
        $0.move("b", fails ? .failed(JobFailure(.exit(1), "exit 1"), allowed: false) : .succeeded(upToDate: false))
      }
      #expect(bench.effects == (notice == .none ? [] : [.notify(text)]))
      bench.press(.character("3"))
      #expect(bench.effects.count == (notice == .none ? 0 : 1))
    }
  }

  /// A retry is then one key away, if there is one.
  @Test func aJobThatAPersonCancelledKeepsItOpen() {
    let once = Job(name: "a", work: .operation(OperationWork(className: "Parse", visibility: .whole)))
    let cases = [
      (Job.shell("a"), JobState.Canceller.person, false), (.shell("a"), .program, true), (.shell("a"), .unneeded, true),
      (once, .person, true),
    ]
    for (job, canceller, leaves) in cases {
      var builder = RunBuilder([job])
      builder.move("a", .executing)
      var bench = Bench(builder, options: DashboardOptions(keepOpen: .onFailure))
      bench.play { $0.move("a", .cancelled(by: canceller)) }
      #expect(bench.effects == (leaves ? [.leave(.complete)] : []))
    }
  }

  @Test(arguments: [
    (KeepOpen.onFailure, false, true), (.onFailure, true, false), (.always, false, false),
    (.always, true, false), (.never, false, true), (.never, true, true),
  ])
  func whetherItStaysOpenFollowsThePolicy(_ policy: KeepOpen, _ fails: Bool, _ leaves: Bool) {
    var builder = RunBuilder([.shell("a"), .shell("b")])
    builder.move("a", .executing)
    builder.move("a", .failed(JobFailure(.exit(1), "exit 1"), allowed: true))
    builder.move("b", .executing)
    var bench = Bench(builder, options: DashboardOptions(keepOpen: policy))
    bench.play {
      $0.move("b", fails ? .failed(JobFailure(.exit(1), "exit 1"), allowed: false) : .succeeded(upToDate: false))
    }
    #expect(bench.effects == (leaves ? [.leave(.complete)] : []))
  }
}
