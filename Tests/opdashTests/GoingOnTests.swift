import Foundation
import JobModel
import Remote
import RunStore
import Support
import Testing

@testable import Session
@testable import opdash

@MainActor @Suite struct GoingOnTests {
  private let folder: TemporaryFolder
  private let world = ProgramWorld()

  init() throws {
    folder = try TemporaryFolder()
    world.environment.variables["XDG_RUNTIME_DIR"] = folder.url.path(percentEncoded: false)
  }

  /// Shows the world's run to it, as another program.
  private func serve(_ feed: FakeFeed) throws -> RunServer {
    let greeting = Greeting(pid: getpid(), run: "", name: "g", place: "/w/opdash.yml")
    return try RunServer.inFirst(
      of: SocketFolder.paths(runtimeFolder: world.environment.runtimeFolder, stateFolder: nil), feed, greeting)
  }

  @Test func aLineNamesRunProcessJobsAndPlace() {
    var greeting = Greeting(pid: 42, run: "20260102-0304", name: "release", place: "/w/opdash.yml")
    greeting.startedAt = Date(timeIntervalSince1970: 0)
    (greeting.jobs, greeting.done, greeting.executing, greeting.failed, greeting.asking) = (9, 4, 2, 1, 1)
    #expect(
      GoingOn.table([greeting], now: Date(timeIntervalSince1970: 221)) == [
        "RUN            PID  TIME  JOBS                                            NAME",
        "20260102-0304  42   3:41  4 of 9 done, 2 running, 1 failed, 1 to approve  release  /w/opdash.yml",
      ])
    #expect(GoingOn.table([], now: Date()).isEmpty)
  }

  @Test func withoutARunTheSentenceSaysWhatStartsOne() async {
    world.perform("ps")
    #expect(world.errors.text == "opdash: nothing is going on: opdash run starts something\n")
    world.perform("cancel last")
    #expect(world.statuses == [0, 2])
    #expect(world.errors.text.contains("no run 'last' is going on"))
  }

  @Test func aRunIsFoundByNameBeginningProcessAndAlone() async throws {
    let feed = FakeFeed()
    feed.begin(3, run: "20260102-0304")
    let server = try serve(feed)
    for word in ["20260102-0304", "2026", "\(getpid())", "test", "last"] {
      world.perform("slots \(word) 7")
      #expect(await soon { feed.commands.last == .setSlots(7) })
    }
    world.perform("slots 1999 7")
    #expect(world.errors.text.contains("no run '1999' is going on"))
    world.perform("ps")
    #expect(world.output.text.contains("20260102-0304"))
    server.finish()
  }

  @Test func aCommandOfAPersonReachesTheRun() async throws {
    let feed = FakeFeed()
    feed.begin(3, run: "1")
    feed.post(.jobState(JobID(0), .executing, attempt: 1, pid: nil))
    feed.post(.jobState(JobID(2), .ready(for: .person), attempt: 0, pid: nil))
    let server = try serve(feed)
    for (line, command) in [
      ("cancel 1", JobCommand.stop(.terminate, by: .person)), ("cancel 1 job1", .cancel([JobID(1)], by: .person)),
      ("pause 1 job0 job*", .pause([JobID(0), JobID(1), JobID(2)])), ("approve 1", .approve([JobID(2)])),
    ] {
      world.perform(line)
      #expect(feed.commands.last == command)
    }
    world.perform("cancel 1 jobb")
    #expect(world.errors.text.contains("no job of run 1 is called 'jobb': did you mean 'job0'?"))
    world.perform("retry 1")
    #expect(world.errors.text.contains("nothing to retry"))
    #expect(feed.commands.count == 4)
    server.finish()
  }

  @Test func onlyARunThatIsRecordedIsSaidToBeResumable() throws {
    let state = folder.file("other").path()
    var greeting = Greeting(pid: 1, run: "r1", name: "g", place: "/w")
    #expect(greeting.remedy(world.environment).isEmpty)
    greeting.stateFolder = state
    #expect(greeting.remedy(world.environment).isEmpty)
    let recorder = RunRecorder(
      folder: state,
      origin: RunOrigin(command: "run", file: "/w/a.yml", directory: "/w", slots: 1, onFailure: "keep-going"))
    let feed = FakeFeed()
    recorder.start(feed)
    feed.begin(1, run: "r1")
    #expect(recorder.flush())
    #expect(greeting.remedy(world.environment).hasSuffix("opdash resume --state '\(state)' r1"))
  }

  @Test func theLineAboutARunThatIsLeftNamesItsStateFolder() async throws {
    let feed = FakeFeed()
    feed.begin(1, run: "1")
    let server = try serve(feed)
    world.performOnTerminal("attach --state /s 1")
    let view = try #require(world.view)
    view.whenDone?(.quit)
    #expect(await world.ends(with: 0))
    #expect(world.errors.text.contains("run 1 keeps running; opdash attach --state '/s' 1 shows it again"))
    server.finish()
  }

  /// The recorder of a run with the name r1 in the world's state folder.
  private func record(_ feed: FakeFeed) -> RunRecorder {
    world.environment.variables["XDG_STATE_HOME"] = folder.file("state").path()
    let recorder = RunRecorder(
      folder: folder.file("state/opdash").path(),
      origin: RunOrigin(command: "run", directory: "/w", slots: 1, onFailure: "keep-going"))
    recorder.start(feed)
    feed.begin(1, run: "r1")
    return recorder
  }

  private func end(_ feed: FakeFeed) {
    feed.post(.jobState(JobID(0), .failed(JobFailure(.exit(1), "exit 1"), allowed: false), attempt: 1, pid: nil))
    feed.post(.runFinished(RunSummary(of: feed.run)))
  }

  @Test func aProblemIsToldOnceWhileARunIsWaitedFor() async throws {
    let sockets = folder.file("opdash").path()
    mkdir(sockets, 0o755)
    chmod(sockets, 0o755)
    let feed = FakeFeed()
    let recorder = record(feed)
    #expect(recorder.flush())
    world.perform("wait r1")
    #expect(world.statuses.isEmpty)
    end(feed)
    #expect(recorder.finish())
    #expect(await world.ends(with: 1))
    #expect(world.errors.text.split(separator: "can't hold sockets").count == 2, "\(world.errors.text)")
  }

  @Test func aRunThatEndsWhileItIsReachedHasItsRecordedStatus() async throws {
    let feed = FakeFeed()
    let recorder = record(feed)
    end(feed)
    #expect(recorder.finish())
    let sockets = try #require(try SocketFolder(folder.file("opdash").path(), makes: true))
    let listener = try sockets.listen()
    DispatchQueue.global().async {
      var request = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&request, 1, -1) == 1 else { return }
      let socket = accept(listener.descriptor, nil, nil)
      let line =
        #"{"type":"greeting","version":1,"pid":1,"run":"r1","name":"g","jobs":1,"done":0,"failed":0,"executing":0,"#
        + #""asking":0,"over":false,"queue":false,"place":"/w"}"# + "\n"
      _ = write(socket, line, line.utf8.count)
      close(socket)
    }
    world.perform("wait g")
    #expect(await world.ends(with: 1))
    close(listener.descriptor)
  }

  @Test func onATerminalOnlyTERMKeepsTheDashboardAway() async throws {
    let feed = FakeFeed()
    feed.begin(1, run: "1")
    let server = try serve(feed)
    (world.environment.inputIsTerminal, world.environment.outputIsTerminal) = (true, true)
    world.environment.variables["TERM"] = "dumb"
    world.perform("attach")
    #expect(world.errors.text.contains("can't draw with TERM='dumb'") && world.view == nil)
    world.environment.variables["CI"] = "true"
    world.environment.variables["ACCESSIBLE"] = "1"
    world.performOnTerminal("attach")
    #expect(world.view != nil)
    server.finish()
  }

  @Test func retryHasTheEffectsOfTheKeyAndSaysWhichOne() async throws {
    let feed = FakeFeed()
    feed.post(.runStarted(RunStart(id: "1", name: "test", slots: 1, at: Date(), jobs: 3)))
    let manual = Job(name: "seed", work: .shell(ShellWork(.script("true"))), isManual: true)
    let service = Job(name: "db", work: .shell(ShellWork(.script("true"), service: Service())))
    let job = Job(name: "lint", work: manual.work)
    for (id, job) in [manual, service, job].enumerated() { feed.post(.jobAdded(JobID(id), job)) }
    feed.post(.jobState(JobID(0), .skipped(because: .manual), attempt: 0, pid: nil))
    feed.post(.jobState(JobID(1), .serving, attempt: 1, pid: nil))
    feed.post(.jobState(JobID(2), .failed(JobFailure(.exit(1), "exit 1"), allowed: false), attempt: 1, pid: nil))
    let server = try serve(feed)
    for (line, jobs, words) in [
      ("retry 1 seed", [0], "starting seed"), ("retry 1 db", [1], "restarting db"),
      ("retry 1 lint", [2], "retrying lint"), ("retry 1 *", [0, 1, 2], "retrying seed, db, lint"),
      ("retry 1", [2], "retrying lint and the skipped dependents"),
    ] {
      world.perform(line)
      #expect(feed.commands.last == .retry(jobs.map { JobID($0) }, withDependents: false))
      #expect(world.output.text.hasSuffix("\(words)\n"))
    }
    server.finish()
  }

  @Test func waitingEndsWithTheStatusOfTheRun() async throws {
    let feed = FakeFeed()
    feed.begin(1, run: "1")
    let server = try serve(feed)
    world.perform("wait")
    #expect(world.statuses.isEmpty)
    feed.post(.jobState(JobID(0), .failed(JobFailure(.exit(1), "exit 1"), allowed: false), attempt: 1, pid: nil))
    feed.post(.runFinished(RunSummary(of: feed.run)))
    #expect(await world.ends(with: 1))
    server.finish()
  }

  @Test func attachingNeedsATerminalAndShowsTheRun() async throws {
    let feed = FakeFeed()
    feed.begin(1, run: "1")
    let server = try serve(feed)
    world.perform("attach")
    #expect(world.errors.text.contains("opdash attach needs a terminal"))
    world.statuses = []
    world.performOnTerminal("attach 1")
    let view = try #require(world.view)
    view.whenDone?(.quit)
    #expect(await world.ends(with: 0))
    #expect(world.errors.text.contains("run 1 keeps running; opdash attach 1 shows it again"))
    #expect(feed.commands.isEmpty)
    server.finish()
  }

  @Test func aRunThatEndsWhileItIsShownGivesItsStatus() async throws {
    let feed = FakeFeed()
    feed.begin(1, run: "1")
    let server = try serve(feed)
    world.performOnTerminal("attach")
    feed.post(.jobState(JobID(0), .cancelled(by: .person), attempt: 0, pid: nil))
    feed.post(.runFinished(RunSummary(of: feed.run)))
    let view = try #require(world.view)
    #expect(await soon { view.feed.snapshot.summary != nil })
    // Open until it is left, and until then the run can be looked at.
    #expect(!view.isClosed && world.statuses.isEmpty)
    view.whenDone?(.complete)
    #expect(await world.ends(with: 3))
    #expect(view.isClosed)
    server.finish()
  }
}
