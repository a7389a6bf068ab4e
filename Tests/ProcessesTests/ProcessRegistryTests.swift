import CProcess
import Testing

@testable import Processes

/// The numbers from 5,000,000 on are of no process: Linux gives out lower ones.
struct ProcessRegistryTests {
  private let registry = ProcessRegistry()

  @discardableResult private func register(_ pid: Int32, startedAt time: UInt64 = 0) throws -> ChildProcess {
    let number = try #require(registry.beginLaunch())
    var spawned = ChildProcess.Spawned()
    spawned.process = cprocess_child(pid: pid, descriptor: -1, slot: nil)
    spawned.startTime = time
    let child = ChildProcess(
      number: number, spawned, launch: ProcessLaunch(["true"]), launchedAt: 0, delegate: NoDelegate())
    registry.register(child)
    return child
  }

  @Test func launchesAreNumberedFromOneOn() {
    #expect(!registry.hasLaunched)
    #expect(registry.beginLaunch() == 1)
    #expect(registry.hasLaunched)
    #expect(registry.beginLaunch() == 2)
    registry.abandonLaunch()
    #expect(registry.beginLaunch() == 3)
  }

  @Test func aLeaderIsKnownUntilItIsRemoved() throws {
    let child = try register(5_000_000)
    let other = try register(5_000_001)
    #expect(registry[child.number] === child && registry[other.number] === other)
    #expect(registry.launch(ledBy: 5_000_000) == child.number)
    #expect(registry.children.count == 2)
    registry.remove(child)
    #expect(registry[child.number] == nil)
    #expect(registry.launch(ledBy: 5_000_000) == nil)
    #expect(registry.launch(ledBy: 5_000_001) == other.number)
    #expect(registry.children.map(\.pid) == [5_000_001])
  }

  @Test func aSlotThatIsFreeIsUsedAgain() throws {
    let children = try (0..<3).map { try register(5_000_000 + $0) }
    #expect(children.map(\.guardianSlot) == [0, 1, 2])
    registry.remove(children[1])
    #expect(try register(5_000_010).guardianSlot == 1)
    #expect(try register(5_000_011).guardianSlot == 3)
  }

  @Test func duringALaunchNobodyIsAStranger() throws {
    try register(5_000_000)
    #expect(registry.isStranger(5_000_001))
    #expect(!registry.isStranger(5_000_000))
    #expect(registry.beginLaunch() != nil)
    #expect(!registry.isStranger(5_000_001))
    registry.abandonLaunch()
    #expect(registry.isStranger(5_000_001))
  }

  @Test func onlyAnOlderLeaderMayHaveStartedAProcess() throws {
    let (old, new) = (try register(5_000_000, startedAt: 7), try register(5_000_010, startedAt: 7))
    #expect(!registry.hasJob(besides: old, before: 5_000_010, startedAt: 7))
    #expect(registry.hasJob(besides: old, before: 5_000_011, startedAt: 7))
    #expect(!registry.hasJob(besides: new, before: 5_000_000, startedAt: 7))
    #expect(registry.hasJob(besides: new, before: 5_000_001, startedAt: 7))
  }

  @Test func aLowerNumberOfALaterTimeIsNotOlder() throws {
    let old = try register(5_000_010, startedAt: 7)
    try register(5_000_000, startedAt: 9)
    #expect(!registry.hasJob(besides: old, before: 5_000_011, startedAt: 8))
    #expect(registry.hasJob(besides: old, before: 5_000_011, startedAt: 9))
  }

  @Test func aHigherNumberOfAnEarlierTimeIsOlder() throws {
    let new = try register(5_000_000, startedAt: 9)
    try register(5_000_010, startedAt: 7)
    #expect(registry.hasJob(besides: new, before: 5_000_001, startedAt: 8))
    #expect(!registry.hasJob(besides: new, before: 5_000_001, startedAt: 7))
  }

  // MARK: When a job was alive

  @Test func whatIsOlderThanTheJobsDescendsFromNone() throws {
    #expect(!registry.mayDescend(startedAt: .max))
    try register(5_000_000, startedAt: 8)
    try register(5_000_001, startedAt: 7)
    try register(5_000_002, startedAt: 9)
    #expect([6, 7, 8, .max].map(registry.mayDescend) == [false, true, true, true])
  }

  @Test func whatStartedBetweenTheJobsDescendsFromNone() throws {
    let (child, other) = (try register(5_000_000, startedAt: 7), try register(5_000_001, startedAt: 8))
    registry.remove(child)
    #expect(registry.mayDescend(startedAt: .max))
    registry.remove(other)
    let end = cprocess_ticks()
    #expect([6, 7, 8, end + 1].map(registry.mayDescend) == [false, true, true, false])
    try register(5_000_002, startedAt: end + 9)
    #expect([7, end + 8, end + 9].map(registry.mayDescend) == [true, false, true])
  }

  @Test func aLaunchUnderWayKeepsTheTimeOpen() throws {
    let child = try register(5_000_000, startedAt: 7)
    #expect(registry.beginLaunch() != nil)
    registry.remove(child)
    #expect(registry.mayDescend(startedAt: .max))
    registry.abandonLaunch()
    #expect(!registry.mayDescend(startedAt: .max))
  }

  @Test func aJobThatMayLeaveProcessesKeepsTheTimeOpen() throws {
    registry.remove(try register(5_000_000, startedAt: 7), mayLeaveProcesses: true)
    registry.remove(try register(5_000_001, startedAt: 9))
    #expect([6, 7, .max].map(registry.mayDescend) == [false, true, true])
  }

  @Test func afterTheCloseNoLaunchBegins() throws {
    #expect(registry.beginLaunch() != nil && registry.beginLaunch() != nil)
    #expect(registry.close() == 2)
    #expect(registry.beginLaunch() == nil)
    registry.abandonLaunch()
    #expect(registry.close() == 1)
  }
}
