import Foundation
import JobModel
import Reports
import Testing

@Suite struct PlainReportTests {
  private func plain(
    _ facts: Facts, coloured: Bool = false, grouping: PlainReport.Grouping = .lines
  ) -> Written {
    report(facts) { PlainReport(paint: Paint(isColoured: coloured), grouping: grouping, write: $0) }
  }

  @Test func aRunInWhichEverythingHappens() {
    expectGolden(plain(.everything).text, "everything.txt")
  }

  @Test func theSameInColour() {
    let text = plain(.everything, coloured: true).text
    expectGolden(text, "everything.ansi")
    #expect(text.replacing(/\u{1B}\[[0-9;]*m/, with: "") == plain(.everything).text)
  }

  @Test(arguments: [PlainReport.Grouping.grouped, .github])
  func theOutputOfAnAttemptIsOneGroupAtItsEnd(_ grouping: PlainReport.Grouping) {
    expectGolden(plain(.everything, grouping: grouping).text, "everything.\(grouping.rawValue).txt")
  }

  @Test func groupsDoNotMixAndALongOneNamesItsFile() throws {
    var facts = Facts()
    facts.begin(["a", "b"].map { Job(name: $0, work: .shell(ShellWork(.script("x"))), retry: RetryPolicy(max: 1)) })
    facts.job(0, .executing)
    facts.job(1, .executing)
    for number in 0..<(LogRing.capacity + 10) {
      facts.log(0, "a \(number)")
      if number < 3 { facts.log(1, "::b:: \(number)") }
    }
    let failure = JobFailure(.exit(1), "exit 1")
    facts.job(0, .backingOff(until: .seconds(1), number: 1, limit: 1, after: failure))
    facts.job(0, .executing, attempt: 2, after: .seconds(1))
    facts.log(0, "again", attempt: 2)
    facts.job(0, .succeeded(upToDate: false), attempt: 2)
    facts.state(.runFinished(RunSummary()))
    let lines = plain(facts, grouping: .github).lines
    let groups = lines.split { !$0.hasPrefix("::group::") && $0 != "::endgroup::" && $0.contains("[") }
      .filter { $0.contains { $0.hasPrefix("::group::") } }.map(Array.init)
    #expect(groups.map(\.count) == [LogRing.capacity + 3, 3, 5 + 3])
    #expect(groups[0][1] == "10 earlier lines, all of them in /state/run-1/logs/a.0.1.log")
    #expect(groups[0][2] == "00:00.0 | a 10" && groups[0][LogRing.capacity + 1] == "00:00.0 | a 2009")
    #expect(groups[1] == ["::group::a", "00:01.0 | again", "::endgroup::"])
    // Left behind by the end of the run, and no line of it is a workflow command.
    #expect(groups[2].first == "::group::b" && groups[2].filter { $0.hasPrefix("::") }.count == 2)
  }

  @Test func onGitHubAFailureIsAnAnnotation() {
    var facts = Facts()
    facts.begin(["a: 5%, b", "c"].map { Job(name: $0, work: .shell(ShellWork(.script("x")))) })
    for job in 0..<2 { facts.job(job, .executing) }
    facts.job(0, .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    facts.job(1, .failed(JobFailure(.error, "no: such, file, 5%"), allowed: true))
    #expect(
      plain(facts, grouping: .github).lines.filter { $0.hasPrefix("::") } == [
        "::error title=a%3A 5%25%2C b::failed: exit 1 in 0.0s",
        "::warning title=c::failed: no: such, file, 5%25 in 0.0s, allowed to fail",
      ])
    #expect(!plain(facts, grouping: .grouped).text.contains("::"))
  }

  @Test func jobsThatArriveAreNotCountedAtTheStart() {
    var facts = Facts()
    let at = Date(timeIntervalSince1970: 0)
    facts.state(.runStarted(RunStart(id: "1", name: "each", slots: 2, at: at, jobs: 0, isOpen: true)))
    #expect(plain(facts).text == "00:00.0   each: jobs as they come, 2 slots\n")
  }

  @Test func waitingAndBecomingReadyMakeNoLine() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    let before = plain(facts).text
    facts.job(0, .ready(for: .slot), attempt: 0)
    facts.job(0, .waiting, attempt: 0)
    #expect(plain(facts).text == before)
  }

  @Test func aProcessThatIsKnownAfterTheStartMakesNoLine() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .shell(ShellWork(.script("x"))))])
    for state in [JobState.executing, .paused(started: true)] {
      facts.job(0, state)
      let before = plain(facts).text
      facts.state(.jobLaunched(JobID(0), pid: 7))
      #expect(plain(facts).text == before)
    }
  }

  @Test func aRetriedJobSaysThatItIsToBeRunAgain() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    facts.job(0, .succeeded(upToDate: false))
    facts.job(0, .waiting)
    #expect(plain(facts).lines.dropLast().last == "00:00.0 . a  [0/1] to be run again")
  }

  @Test func aFailureRepeatsTheLastLinesOfItsLastAttempt() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .shell(ShellWork(.script("x"))), retry: RetryPolicy(max: 1))])
    facts.job(0, .executing)
    for number in 1...3 { facts.log(0, "first \(number)") }
    let failure = JobFailure(.exit(1), "exit 1")
    facts.job(0, .backingOff(until: .seconds(1), number: 1, limit: 1, after: failure))
    facts.job(0, .executing, attempt: 2, after: .seconds(1))
    for number in 1...12 { facts.log(0, "second \(number)", attempt: 2) }
    facts.job(0, .failed(failure, allowed: false), attempt: 2)
    facts.state(.runFinished(RunSummary()))
    let lines = plain(facts).lines
    let start = lines.firstIndex(of: "") ?? 0
    #expect(lines[start + 1] == "! a  failed: exit 1 in 0.0s, after 2 tries")
    #expect(Array(lines[(start + 2)..<(start + 12)]) == (3...12).map { "    | second \($0)" })
    #expect(lines[start + 12] == "    log: /state/run-1/logs/a.0.2.log")
  }

  @Test func aSilentAttemptRepeatsNoOutputOfAnEarlierOne() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .shell(ShellWork(.script("x"))), retry: RetryPolicy(max: 1))])
    facts.job(0, .executing)
    facts.log(0, "early")
    let failure = JobFailure(.exit(1), "exit 1")
    facts.job(0, .backingOff(until: .seconds(1), number: 1, limit: 1, after: failure))
    facts.job(0, .executing, attempt: 2, after: .seconds(1))
    facts.job(0, .failed(failure, allowed: false), attempt: 2)
    facts.state(.runFinished(RunSummary()))
    let text = plain(facts).text
    #expect(!text.contains("log:") && !text.contains("    | early"))
  }

  @Test(arguments: [false, true])
  func aFailureWithoutOutputNamesNoLog(hasNote: Bool) {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .shell(ShellWork(.script("x"))))])
    facts.job(0, .executing)
    if hasNote { facts.log(0, "submitted as job 13", .note) }
    facts.finish(failing: 0)
    #expect(plain(facts).text.contains("    | submitted as job 13") == hasNote)
    #expect(!plain(facts).text.contains("log:"))
  }

  @Test func escapesInANameAReasonOrOutputDoNotReachTheTerminal() {
    var facts = Facts()
    facts.begin([Job(name: "j\u{1B}]0;x\u{07}ob", work: .shell(ShellWork(.script("x"))))], name: "na\u{1B}[2Jme")
    facts.job(0, .executing)
    facts.log(0, "\u{1B}[5;5Hmoved")
    facts.finish(failing: 0, "exit\u{1B}c 1")
    #expect(!plain(facts).text.unicodeScalars.contains("\u{1B}"))
  }

  @Test func aFailureInTheClusterSaysWhereItWas() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .shell(ShellWork(.script("x"), cluster: ClusterRequest())))])
    facts.state(.jobPlaced(JobID(0), ClusterPlace(id: "12_3", nodes: "node2")))
    facts.job(0, .executing)
    facts.finish(failing: 0)
    #expect(plain(facts).text.contains("\n    cluster: job 12_3 on node2\n"))
  }

  @Test func onlyTheFirstFailuresAreShownWithOutput() {
    var facts = Facts()
    facts.begin((0..<50).map { Job(name: "job\($0)", work: .shell(ShellWork(.script("x")))) })
    for id in 0..<50 {
      facts.job(id, .executing)
      facts.log(id, "output of \(id)")
      facts.job(id, .failed(JobFailure(.exit(1), "exit 1"), allowed: false))
    }
    facts.state(.runFinished(RunSummary()))
    let end = plain(facts).text.split(separator: "\n\n")[1]
    #expect(end.matches(of: /! job/).count == 50)
    #expect(end.matches(of: #/log: /#).count == 50)
    #expect(end.matches(of: /\| output of/).count == 20)
  }

  @Suite struct Heartbeats {
    private let written = Written()

    private func running() -> (ReportSet, Facts) {
      var facts = Facts()
      facts.begin((0..<6).map { Job(name: "job\($0)", work: .simulate(SimulatedWork())) }, slots: 6)
      for id in 0..<6 { facts.job(id, .executing, after: .seconds(1)) }
      var set = ReportSet([PlainReport(paint: Paint(isColoured: false), write: written.textWriter)])
      set.receive(facts.events)
      return (set, facts)
    }

    @Test func aHeartbeatFollowsTenSecondsOfSilence() {
      var (set, _) = running()
      #expect(set.wakeTime == .seconds(16))
      set.wake(at: .seconds(16))
      #expect(
        written.lines.dropLast().last
          == "00:16.0   6 running: job0 15.0s, job1 14.0s, job2 13.0s, job3 12.0s, 2 more; 0 of 6 done")
    }

    @Test func anEarlyWakeWritesNothing() {
      var (set, _) = running()
      let before = written.text
      set.wake(at: .seconds(15))
      #expect(written.text == before)
    }

    @Test func heartbeatsBecomeRarer() {
      var (set, _) = running()
      var times: [Duration] = []
      for _ in 0..<5 {
        guard let time = set.wakeTime else { break }
        times.append(time)
        set.wake(at: time)
      }
      #expect(times == [16, 36, 76, 136, 196].map { Duration.seconds($0) })
    }

    @Test func anEventRestartsTheSilence() {
      var (set, facts) = running()
      set.wake(at: .seconds(16))
      let seen = facts.events.count
      facts.now = .seconds(20)
      facts.log(3, "hello")
      set.receive(facts.events[seen...])
      #expect(set.wakeTime == .seconds(30))
    }

    @Test func aHeartbeatNamesTheNextRetry() {
      var facts = Facts()
      facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
      facts.job(0, .executing)
      let failure = JobFailure(.network, "connection reset")
      facts.job(0, .backingOff(until: .seconds(25), number: 1, limit: 3, after: failure))
      var set = ReportSet([PlainReport(paint: Paint(isColoured: false), write: written.textWriter)])
      set.receive(facts.events)
      set.wake(at: .seconds(10))
      #expect(written.lines.dropLast().last == "00:10.0   nothing runs, next retry in 15.0s; 0 of 1 done")
    }

    @Test func aHeartbeatNamesTheReasonOfMostOfTheWaitsForTheCluster() {
      var facts = Facts()
      facts.begin((0..<6).map { Job(name: "job\($0)", work: .simulate(SimulatedWork())) })
      for (id, reason) in [nil, "Resources", "Priority", "Priority", nil].enumerated() {
        facts.job(id, .ready(for: .cluster(reason: reason)))
      }
      var set = ReportSet([PlainReport(paint: Paint(isColoured: false), write: written.textWriter)])
      set.receive(facts.events)
      set.wake(at: .seconds(10))
      #expect(
        written.lines.dropLast().last == "00:10.0   nothing runs; 5 wait for the cluster: Priority; 0 of 6 done")
      let seen = facts.events.count
      for id in 0..<4 { facts.job(id, .executing) }
      set.receive(facts.events[seen...])
      set.wake(at: .seconds(20))
      #expect(written.lines.dropLast().last?.hasSuffix("; 1 waits for the cluster; 0 of 6 done") == true)
    }

    @Test func aHeartbeatShowsThePromptThatAJobIsAt() {
      var facts = Facts()
      facts.begin([Job(name: "a", work: .shell(ShellWork(.script("x"))))])
      facts.job(0, .executing)
      facts.log(0, "  \u{1B}[1mPassword for me@example.org\u{1B}[0m? ", .stderr, isUnfinished: true)
      var set = ReportSet([PlainReport(paint: Paint(isColoured: false), write: written.textWriter)])
      set.receive(facts.events)
      #expect(!written.text.contains("Password"))
      set.wake(at: .seconds(10))
      #expect(
        written.lines.dropLast().last
          == "00:10.0   1 running: a 10.0s at 'Password for me@example.org? '; 0 of 1 done")
    }

    @Test func withoutLogsTheFailureStillHasItsLastLines() {
      var facts = Facts()
      facts.begin([Job(name: "a", work: .shell(ShellWork(.script("x"))))])
      facts.job(0, .executing)
      facts.log(0, "the last line")
      var set = ReportSet(
        [PlainReport(paint: Paint(isColoured: false), write: written.textWriter)], showsLogs: { false })
      set.receive(facts.events)
      #expect(!written.text.contains("the last line"))
      facts.finish(failing: 0)
      set.receive(facts.events.suffix(2))
      #expect(written.text.components(separatedBy: "the last line").count == 2)
    }

    @Test func noHeartbeatBeforeOrAfterTheRun() {
      var set = ReportSet([PlainReport(paint: Paint(isColoured: false), write: written.textWriter)])
      #expect(set.wakeTime == nil)
      set.receive(Facts.everything.events)
      #expect(set.wakeTime == nil)
    }
  }

  @Test func aFolderOfAnyNameIsNamedWithoutWhatATerminalObeys() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .shell(ShellWork(.script("x"))))], folder: "/state\u{1B}]0;t\u{7}/\u{202E}1")
    facts.job(0, .executing)
    facts.log(0, "said")
    facts.finish(failing: 0)
    let shown = #"/state\u{1B}]0;t\u{07}/\u{202E}1/logs"#
    let lines = plain(facts).lines
    #expect(lines.first?.hasSuffix("logs in \(shown)") == true)
    #expect(lines.contains("    log: \(shown)/a.0.1.log"))
  }

  @Test func hiddenAndBlinkingOutputIsVisible() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .shell(ShellWork(.script("x"))))])
    facts.job(0, .executing)
    facts.log(0, "\u{1B}[8mhidden\u{1B}[0;5;31mblinking")
    let line = plain(facts, coloured: true).lines.dropLast().last
    #expect(line?.hasSuffix(" hidden\u{1B}[0;31mblinking\u{1B}[0m") == true)
  }

  // MARK: Lines of other facts

  /// The lines that these facts make after the start of a run of two jobs, without their last line feed.
  private func lines(isBrief: Bool = false, _ make: (inout Facts) -> Void) -> [String] {
    var facts = Facts()
    facts.begin(["a", "long"].map { Job(name: $0, work: .shell(ShellWork(.script("x")))) })
    let seen = facts.events.count
    make(&facts)
    let written = Written()
    var set = ReportSet([PlainReport(paint: Paint(isColoured: false), isBrief: isBrief, write: written.textWriter)])
    set.receive(facts.events[..<seen])
    let count = written.lines.count - 1
    set.receive(facts.events[seen...])
    return Array(written.lines.dropFirst(count).dropLast())
  }

  @Test func eachFactThatAPersonCausesHasItsLine() {
    #expect(
      lines { facts in
        facts.state(.slotsChanged(1), after: .seconds(61))
        facts.state(.slotsChanged(Run.unlimited))
        facts.state(.poolChanged("net", 3))
        facts.state(.clusterChanged(fault: "no answer"))
        facts.state(.clusterChanged(fault: nil))
        facts.state(.cancelRequested(JobID(0), by: .person, kill: true))
        facts.state(.cancelRequested(JobID(1), by: .policy, kill: false))
        facts.state(.priorityChanged(JobID(1), .low))
      } == [
        "01:01.0   1 slot", "01:01.0   any slots", "01:01.0   pool net: 3",
        "01:01.0   the cluster's controller is down, and is waited for: no answer",
        "01:01.0   the cluster's controller answers again", "01:01.0   a     being killed",
        "01:01.0   long  priority low",
      ])
  }

  @Test func factsForOtherReadersMakeNoLine() {
    #expect(
      lines { facts in
        facts.state(.jobRestored(JobID(0), EarlierSuccess(run: "r0", at: .distantPast, took: .seconds(1))))
        facts.state(.inputsHashed(JobID(0), "9f"))
        facts.state(.jobOutputs(JobID(0), ["a": "b"]))
        facts.state(.jobPlaced(JobID(0), ClusterPlace(id: "7")))
        facts.state(.programLog(LogLine(.stdout, "own")))
        facts.state(.arrivalsEnded)
        facts.state(.jobProgress(JobID(0), JobProgress(done: 1, total: 2, unit: .bytes)))
      } == [])
  }

  @Test func aBriefSuccessIsOneLineWithItsSize() {
    func end(_ unit: JobProgress.Unit, _ state: JobState) -> [String] {
      lines(isBrief: true) { facts in
        facts.job(0, .executing)
        facts.log(0, "206, from byte 3", .note)
        facts.log(0, "said")
        facts.state(.jobProgress(JobID(0), JobProgress(done: 1_500_000, total: nil, unit: unit)))
        facts.job(0, state, after: .seconds(1))
      }
    }
    let said = "00:00.0   a    | said"
    #expect(end(.bytes, .succeeded(upToDate: false)) == [said, "00:01.0 + a     [1/2] ok in 1.0s, 1.5 MB"])
    #expect(end(.steps, .succeeded(upToDate: false)) == [said, "00:01.0 + a     [1/2] ok in 1.0s"])
    #expect(end(.bytes, .cancelled(by: .person)) == [said, "00:01.0 c a     [1/2] cancelled by you in 1.0s"])
  }

  @Test func aSizeIsOnlyInABriefLine() {
    let end = lines { facts in
      facts.job(0, .executing)
      facts.state(.jobProgress(JobID(0), JobProgress(done: 1_500_000, total: nil, unit: .bytes)))
      facts.job(0, .succeeded(upToDate: false), after: .seconds(1))
    }
    #expect(end == ["00:00.0 > a     [0/2] started", "00:01.0 + a     [1/2] ok in 1.0s"])
  }

  @Test func theColumnOfNamesHasItsLimitAndTheCountAsManyDigits() {
    var facts = Facts()
    let long = String(repeating: "n", count: 29)
    facts.begin(
      ([long, String(repeating: "m", count: 28)] + (0..<8).map { "\($0)" }).map {
        Job(name: $0, work: .simulate(SimulatedWork()))
      })
    facts.job(0, .executing)
    facts.job(2, .executing)
    let lines = plain(facts).lines
    #expect(lines[1] == "00:00.0 > \(long)  [ 0/10] started")
    #expect(lines[2] == "00:00.0 > 0" + String(repeating: " ", count: 27) + "  [ 0/10] started")
  }

  @Test func aRuleHasEightyColumnsAndAtLeastThreeDashes() {
    func rule(_ length: Int) -> String? {
      var facts = Facts()
      facts.begin([Job(name: String(repeating: "n", count: length), work: .simulate(SimulatedWork()))])
      facts.job(0, .executing)
      facts.log(0, "said")
      facts.job(0, .succeeded(upToDate: false))
      return plain(facts, grouping: .grouped).lines.first { $0.hasPrefix("--") }
    }
    #expect(rule(10) == "-- nnnnnnnnnn " + String(repeating: "-", count: 66))
    #expect(rule(73)?.hasSuffix("n ---") == true && rule(72)?.hasSuffix("n ----") == true)
    #expect(rule(90)?.hasSuffix("n ---") == true)
  }

  @Test func aWideNameTakesItsCells() {
    var facts = Facts()
    facts.begin(["漢字", "abc"].map { Job(name: $0, work: .simulate(SimulatedWork())) })
    for job in 0..<2 { facts.job(job, .executing) }
    #expect(plain(facts).lines[1...2] == ["00:00.0 > 漢字  [0/2] started", "00:00.0 > abc   [0/2] started"])
    facts.log(0, "said")
    facts.job(0, .succeeded(upToDate: false))
    let rule = plain(facts, grouping: .grouped).lines.first { $0.hasPrefix("--") }
    #expect(rule == "-- 漢字 " + String(repeating: "-", count: 72))
  }

  // MARK: The words of a heartbeat

  /// The newest line once the report is woken.
  private func heartbeat(_ facts: Facts, at seconds: Int) -> String? {
    let written = Written()
    var set = ReportSet([PlainReport(paint: Paint(isColoured: false), write: written.textWriter)])
    set.receive(facts.events)
    set.wake(at: .seconds(seconds))
    return written.lines.dropLast().last
  }

  @Test func aHeartbeatNamesFourJobsTheOldestFirst() {
    var facts = Facts()
    facts.begin((0..<5).map { Job(name: "job\($0)", work: .simulate(SimulatedWork())) }, slots: 6)
    for id in [3, 0, 2, 1] { facts.job(id, .executing, after: .seconds(1)) }
    #expect(
      heartbeat(facts, at: 20)
        == "00:20.0   4 running: job3 19.0s, job0 18.0s, job2 17.0s, job1 16.0s; 0 of 5 done")
    facts.job(4, .executing)
    #expect(
      heartbeat(facts, at: 20)
        == "00:20.0   5 running: job3 19.0s, job0 18.0s, job2 17.0s, job1 16.0s, 1 more; 0 of 5 done")
  }

  @Test func aHeartbeatSaysWhatIsPausedAndTheNearestRetry() {
    var facts = Facts()
    facts.begin((0..<3).map { Job(name: "job\($0)", work: .simulate(SimulatedWork())) })
    #expect(heartbeat(facts, at: 10) == "00:10.0   nothing runs; 0 of 3 done")
    let failure = JobFailure(.network, "connection reset")
    for (id, until) in [40, 30].enumerated() {
      facts.job(id, .executing)
      facts.job(id, .backingOff(until: .seconds(until), number: 1, limit: 3, after: failure))
    }
    #expect(heartbeat(facts, at: 10) == "00:10.0   nothing runs, next retry in 20.0s; 0 of 3 done")
    facts.job(2, .executing)
    facts.job(2, .paused(started: true), after: .seconds(2))
    #expect(heartbeat(facts, at: 12) == "00:12.0   1 running: job2 2.0s (paused); 0 of 3 done")
    facts.job(2, .serving)
    #expect(heartbeat(facts, at: 12)?.contains("paused") == false)
  }

  @Test func aPromptInAHeartbeatHasFortyCells() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.job(0, .executing)
    var long = facts
    facts.log(0, String(repeating: "p", count: 40), isUnfinished: true)
    #expect(heartbeat(facts, at: 10)?.contains(" at '" + String(repeating: "p", count: 40) + "'; ") == true)
    long.log(0, String(repeating: "p", count: 41), isUnfinished: true)
    #expect(heartbeat(long, at: 10)?.contains(" at '" + String(repeating: "p", count: 38) + "..'; ") == true)
  }

  @Test func theNotesOfATransferAreInItsLog() {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .download(DownloadWork(url: "http://h/f", file: "/w/f")))])
    facts.job(0, .executing)
    facts.log(0, "206, from byte 3", .note)
    facts.finish(failing: 0)
    #expect(plain(facts).lines.contains("    log: /state/run-1/logs/a.0.1.log"))
  }

  @Test func failuresThatAreAllowedComeLast() {
    var facts = Facts()
    facts.begin((0..<4).map { Job(name: "j\($0)", work: .simulate(SimulatedWork())) })
    for id in 0..<4 {
      facts.job(id, .failed(JobFailure(.exit(1), "exit 1"), allowed: id.isMultiple(of: 2)), attempt: 0)
    }
    #expect(
      SummaryReport.lines(of: facts.run, paint: Paint(isColoured: false)) == [
        "! j1  failed: exit 1", "! j3  failed: exit 1", "~ j0  failed: exit 1, allowed to fail",
        "~ j2  failed: exit 1, allowed to fail", "release: 2 failed, 2 failed but allowed to in 0.0s",
      ])
  }
}
