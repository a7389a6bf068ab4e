import CProcess
import Foundation
import Support
import Testing

@testable import Processes

/// Processes of a program that was killed, as another program finds and ends them.
@Suite struct AbandonedProcessTests {
  /// Starts a program in a session of its own, as a job is started, and returns it once it says "up".
  private func start(_ script: String, cookie: String?) throws -> AbandonedProcesses.Leader {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
    // In the background, so that it has no group to leave and no parent that waits for it.
    process.arguments = ["sh", "-c", "echo $$; \(script)"]
    var environment = ["PATH": "/usr/bin:/bin"]
    if let cookie { environment["OPDASH_RUN"] = "outer-1/3:\(cookie)/7" }
    process.environment = environment
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
    let pid = try #require(text.split(separator: "\n").first.flatMap { Int32($0) })
    var info = cprocess_info()
    #expect(cprocess_look(pid, &info))
    return AbandonedProcesses.Leader(pid: pid, startTime: info.start_time)
  }

  private func cookie() -> String { "test\(UInt64.random(in: .min ... .max))-1" }

  private func end(_ cookie: String, _ leaders: AbandonedProcesses.Leader...) -> AbandonedProcesses.Result {
    AbandonedProcesses(cookie: cookie, leaders: leaders).end(within: .seconds(Patience.seconds))
  }

  /// Waits until so many processes sleep for the marker.
  private func sleepers(_ marker: String, _ count: Int) -> Bool {
    eventually { ProcessTable.processes(with: "sleep\0\(marker)").count == count }
  }

  @Test(arguments: [
    ("exec sleep %", 1),
    ("sleep % & sleep % & wait", 2),
    ("trap '' TERM HUP INT; while :; do sleep %; done", 1),
    ("setsid sleep % & exit 0", 1),  // the leader has ended
    ("env -i setsid sleep % & exec sleep %", 2),  // a session without a cookie, below a leader with one
    ("setsid sh -c 'env -i sleep % & exec sleep %' & exit 0", 2),  // in the session of a process with a cookie
  ])
  func processesWithTheCookieEndWithSessionsAndDescendants(script: String, count: Int) throws {
    let (marker, cookie) = (ProcessTable.marker(), cookie())
    _ = try start(script.replacingOccurrences(of: "%", with: marker), cookie: cookie)
    #expect(sleepers(marker, count))
    let result = end(cookie)
    #expect(result.left.isEmpty)
    #expect(result.killed >= count)
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func aRecordedLeaderIsEndedWithoutACookie() throws {
    let marker = ProcessTable.marker()
    let leader = try start("sleep \(marker) & exec env -i sleep \(marker)", cookie: nil)
    #expect(sleepers(marker, 2))
    let result = end(cookie(), leader)
    #expect(result == .init(killed: 2, left: []))
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func aProcessWithTheNumberOfALeaderAndAnotherStartTimeIsSpared() throws {
    let marker = ProcessTable.marker()
    let leader = try start("exec sleep \(marker)", cookie: nil)
    #expect(sleepers(marker, 1))
    for time in [leader.startTime - 1, leader.startTime + 1, 0] {
      let earlier = AbandonedProcesses.Leader(pid: leader.pid, startTime: time)
      #expect(end(cookie(), earlier) == .init(killed: 0, left: []))
      #expect(!cprocess_signal_started(leader.pid, time, SIGKILL))
    }
    #expect(ProcessTable.processes(with: marker) == [leader.pid])
    #expect(cprocess_signal_started(leader.pid, leader.startTime, SIGKILL))
    #expect(sleepers(marker, 0))
  }

  @Test func processesOfAnotherProgramAndTheCallersOwnAreSpared() throws {
    let (marker, other, mine) = (ProcessTable.marker(), cookie(), cookie())
    let leader = try start("exec sleep \(marker)", cookie: other)
    #expect(sleepers(marker, 1))
    // The caller's own session may hold a process of the run: it is ended, and nothing else in the session.
    let result = end(mine)
    #expect(result == .init(killed: 0, left: []))
    #expect(ProcessTable.processes(with: marker) == [leader.pid])
    _ = end(other)
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func processesThatForkMeanwhileAreAllEnded() throws {
    let (marker, cookie) = (ProcessTable.marker(), cookie())
    // A chain of processes that each start the next in a new session and end.
    _ = try start("while :; do setsid sh -c 'sleep \(marker)' & sleep 0.01; done", cookie: cookie)
    #expect(eventually { ProcessTable.processes(with: "sleep\0\(marker)").count > 5 })
    let result = end(cookie)
    #expect(result.left.isEmpty)
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }

  @Test func theGuardianOfAKilledProgramMayEndThemToo() throws {
    let marker = ProcessTable.marker()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Shell.probe)
    let script = "setsid sleep \(marker) & sleep \(marker) & wait"
    process.arguments = ["run"] + Array(repeating: script, count: 10)
    try process.run()
    #expect(sleepers(marker, 20))
    let one = try #require(ProcessTable.processes(with: "sleep\0\(marker)").first)
    let variables = try #require(ProcessTable.text("/proc/\(one)/environ")).split(separator: "\0")
    let variable = variables.first { $0.hasPrefix("OPDASH_RUN=") }
    // cookie/number, after the cookies of programs around this one.
    let word = try #require(variable?.dropFirst("OPDASH_RUN=".count).split(separator: ":").last)
    let cookie = String(word.prefix { $0 != "/" })
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(end(cookie).left.isEmpty)
    #expect(ProcessTable.processes(with: marker).isEmpty)
  }
}
