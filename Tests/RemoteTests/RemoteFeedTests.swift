import Basics
import Dispatch
import Foundation
import JobModel
import Support
import Testing

@testable import Remote

@Suite struct RemoteFeedTests {
  @Test func anAttachedProgramHasTheSameRunAndItsEvents() throws {
    let served = try Served()
    let remote = try served.attach()
    #expect(remote.snapshot == served.feed.run && remote.greeting.run == "r1")
    let run = Lock(remote.snapshot)
    let subscription = remote.subscribe(on: .global()) { events in
      run.withLock { run in for event in events { run.apply(event) } }
    }
    run.withLock { $0 = subscription.snapshot }
    served.feed.post(.jobState(JobID(1), .executing, attempt: 1, pid: 7), at: .seconds(1))
    served.feed.post(.jobLog(JobID(1), attempt: 1, LogLine(.stdout, "a\u{1B}[31m\u{202E}b")), at: .seconds(2))
    #expect(eventually { run.withLock { $0 == served.feed.run } })
    #expect(remote.snapshot == served.feed.run && remote.elapsed >= remote.snapshot.time)
    subscription.cancel()
  }

  @Test func aCommandReachesTheRunAndIsAnswered() throws {
    let served = try Served()
    let remote = try served.attach()
    let answers = Lock<[String?]>([])
    remote.send(.cancel([JobID(2)], by: .policy)) { answer in answers.withLock { $0.append(answer) } }
    remote.send(.finish(signal: 2)) { answer in answers.withLock { $0.append(answer) } }
    #expect(eventually { answers.withLock { $0.count == 2 } })
    #expect(answers.withLock { Set($0) } == [nil, "only the run's own program can do this"])
    #expect(served.feed.commands == [.cancel([JobID(2)], by: .person)])
  }

  @Test func aReadOnlyProgramIsRefusedOnBothSides() throws {
    let served = try Served()
    let remote = try served.attach(.readOnly)
    #expect(remote.attachment == .readOnly)
    let answer = Lock<String?>(nil)
    remote.send(.setSlots(1)) { text in answer.withLock { $0 = text } }
    #expect(answer.withLock(\.self) == RemoteAccess.refusal)
    let raw = try RawReader(try #require(served.programs.first))
    raw.send(String(decoding: Hello(access: .readOnly, logLines: 0).line, as: UTF8.self))
    raw.send(#"{"type":"command","n":1,"command":"slots","slots":1}"# + "\n")
    while let line = raw.line(), !line.contains("answer\"") || line.contains("clock") {}
    #expect(served.feed.commands.isEmpty)
  }

  @Test func theEndOfTheProgramIsSaid() throws {
    let served = try Served()
    let remote = try served.attach()
    let end = Lock<RemoteError?>(nil)
    remote.whenEnded { error in end.withLock { $0 = error } }
    served.feed.post(.runFinished(RunSummary(of: served.feed.run)))
    served.server?.finish()
    #expect(eventually { end.withLock { $0 == .ended } })
    #expect(remote.snapshot.summary != nil)
    #expect(served.programs.isEmpty)
  }

  @Test func whoMissesEventsGetsASnapshotInTheirPlace() throws {
    let served = try Served()
    let remote = try served.attach()
    let (run, isHeld) = (Lock(Run()), DispatchSemaphore(value: 0))
    let subscription = remote.subscribe(on: DispatchQueue(label: "reader")) { events in
      isHeld.wait()
      isHeld.signal()
      run.withLock { run in for event in events { run.apply(event) } }
    }
    run.withLock { $0 = subscription.snapshot }
    // More than the reader, the socket and the server hold.
    for number in 0..<120_000 {
      let line = LogLine(.stdout, "line \(number) \(String(repeating: "x", count: 40))")
      served.feed.post(.jobLog(JobID(number % 3), attempt: 1, line), at: .milliseconds(number))
    }
    isHeld.signal()
    #expect(eventually { run.withLock { $0.nextSeq == served.feed.run.nextSeq } })
    #expect(run.withLock { $0 == served.feed.run })
    subscription.cancel()
  }

  @Test func eachLineOfASnapshotMayTakeItsTime() throws {
    let served = try Served(jobs: 200)
    var waits = 0
    let remote = try RemoteFeed(try #require(served.programs.first)) { heard in
      waits += 1
      // As if lines had come.
      return waits < 10 ? .success : heard.wait(timeout: .distantFuture)
    }
    #expect(remote.snapshot.jobs.count == 200)
  }

  @Test func aProgramThatStopsInItsSnapshotIsSilent() throws {
    let folder = try TemporaryFolder()
    let sockets = try #require(try SocketFolder("\(folder.url.path())/live", makes: true))
    let listener = try sockets.listen()
    let accepting = Thread {
      var waiting = pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, -1) == 1 else { return }
      let socket = accept(listener.descriptor, nil, nil)
      let greeting = Greeting(pid: getpid(), run: "r", name: "g", place: "/w")
      let lines = greeting.line + Wire.clock(began: .zero, answered: 0)
      _ = write(socket, lines, lines.count)
    }
    accepting.start()
    let program = try #require(RemoteProgram.all(in: [sockets.path]).programs.first)
    var waits = 0
    #expect(throws: RemoteError.silent(pid: getpid())) {
      try RemoteFeed(program) { heard in
        waits += 1
        return waits == 1 ? heard.wait(timeout: .distantFuture) : .timedOut
      }
    }
    #expect(waits == 2)
    close(listener.descriptor)
  }
}
