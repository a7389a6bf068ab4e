import CProcess
import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// Which of a list of processes descend from a leader.
///
/// The numbers from 5,000,000 on are of no process: Linux gives out lower ones.
@Suite struct ProcessScanTests {
  private let registry = ProcessRegistry()
  private let scan: ProcessScan
  private let cookie = "c\(UInt64.random(in: .min ... .max))-1"
  private let leader: pid_t = 5_000_000
  private let number: UInt64

  init() {
    scan = ProcessScan(registry: registry, cookie: cookie)
    number = Self.launch(5_000_000, in: registry)
  }

  /// Registers a leader, which started at tick 50; returns the number of its launch.
  private static func launch(_ pid: pid_t, in registry: ProcessRegistry) -> UInt64 {
    guard let number = registry.beginLaunch() else { return 0 }
    var spawned = Processes.ChildProcess.Spawned()
    spawned.process = cprocess_child(pid: pid, descriptor: -1, slot: nil)
    spawned.startTime = 50
    registry.register(
      Processes.ChildProcess(
        number: number, spawned, launch: ProcessLaunch(["true"]), launchedAt: 0, delegate: NoDelegate()))
    return number
  }

  @Test func aProcessOfTwoListsCountsOnce() {
    let union = ProcessScan.union([process(3), process(7)], [process(7), process(9)])
    #expect(union.map(\.pid) == [3, 7, 9])
  }

  /// A process in a session of its own, unless another is given.
  private func process(
    _ pid: pid_t, parent: pid_t = 1, session: pid_t? = nil, ended: Bool = false, startTime: UInt64 = 50
  ) -> cprocess_info {
    cprocess_info(
      pid: pid, parent: parent, group: pid, session: session ?? pid, ended: ended, start_time: startTime)
  }

  private func members(_ list: [cprocess_info], of number: UInt64? = nil) -> [pid_t] {
    scan.scan(list).members[number ?? self.number]?.map(\.pid).sorted() ?? []
  }

  // MARK: Descendants

  @Test func theLeadersSessionAndItsChildrenAreMembers() {
    let result = scan.scan([
      process(leader), process(5_000_001, session: leader), process(5_000_002, parent: leader),
    ])
    #expect(
      result.members[number]
        == [
          .init(pid: 5_000_001, session: leader, group: 5_000_001, startTime: 50),
          .init(pid: 5_000_002, session: 5_000_002, group: 5_000_002, startTime: 50),
        ])
    #expect(result.leaders == 1 && !result.isDoubtful && result.orphans == [])
  }

  @Test(arguments: [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
  func theirDescendantsAreFoundInWhateverOrder(order: [Int]) {
    let list = [
      process(5_000_001, session: leader), process(5_000_002, parent: 5_000_001),
      process(5_000_003, parent: 5_000_002), process(5_000_004, parent: 5_000_003),
    ]
    #expect(members(order.map { list[$0] }) == [5_000_001, 5_000_002, 5_000_003, 5_000_004])
  }

  @Test func eachLaunchHasItsOwnDescendants() {
    let other = Self.launch(5_000_100, in: registry)
    let list = [
      process(leader), process(5_000_100, parent: leader), process(5_000_001, parent: leader),
      process(5_000_101, session: 5_000_100), process(5_000_102, parent: 5_000_101),
    ]
    // A leader belongs to no other launch, although this process has not started it.
    #expect(members(list) == [5_000_001])
    #expect(members(list, of: other) == [5_000_101, 5_000_102])
    #expect(scan.scan(list).leaders == 2)
  }

  @Test func theSessionCountsMoreThanTheParent() {
    let other = Self.launch(5_000_100, in: registry)
    let list = [process(5_000_001, parent: leader, session: 5_000_100)]
    #expect(members(list) == [])
    #expect(members(list, of: other) == [5_000_001])
  }

  @Test func whatCannotBeADescendantIsPassedOver() {
    let own = getsid(0)
    let list = [
      process(5_000_001, parent: leader, session: 0), process(5_000_002, session: leader, ended: true),
      process(getpid(), session: leader), process(5_000_003, parent: leader, session: own),
    ]
    #expect(members(list) == [])
    // A leader counts wherever it is, while it has not ended.
    #expect(scan.scan([process(leader, session: own)]).leaders == 1)
    #expect(scan.scan([process(leader, ended: true)]).leaders == 0)
  }

  @Test func aProcessThatHasEndedDuringTheScanMakesItDoubtful() {
    #expect(scan.scan([process(5_000_001)]).isDoubtful)
    // Of the first process of the system the environment can be read, or may not be.
    #expect(!scan.scan([process(1, parent: 0, session: 5_000_009)]).isDoubtful)
    #expect(!scan.scan([]).isDoubtful)
  }

  @Test func theCookieTellsTheLaunch() throws {
    let child = try Support.ChildProcess(["/bin/sleep", "3600"], environment: ["OPDASH_RUN": "o-1/3:\(cookie)/7"])
    defer { child.stop() }
    let list = [process(child.pid, session: 5_000_009)]
    #expect(members(list, of: 7) == [child.pid])
    #expect(scan.scan(list).members.count == 1)
    let other = ProcessScan(registry: registry, cookie: cookie + "1").scan(list)
    #expect(other.members.isEmpty && !other.isDoubtful)
  }

  // MARK: Orphans

  @Test func anUnknownChildOfThisProcessIsAnOrphanIfItAdopts() {
    let list = [process(5_000_001, parent: getpid()), process(5_000_002)]
    #expect(scan.scan(list).orphans == [])
    scan.adoptsOrphans.store(true, ordering: .relaxed)
    #expect(scan.scan(list).orphans.map(\.pid) == [5_000_001])
    // The descendant of a leader is none.
    #expect(scan.scan([process(5_000_003, parent: getpid(), session: leader)]).orphans == [])
  }

  @Test func aChildThatIsOlderThanTheJobsIsNoOrphan() {
    scan.adoptsOrphans.store(true, ordering: .relaxed)
    let list = (48...51).map { process(5_000_000 + pid_t($0), parent: getpid(), startTime: $0) }
    #expect(scan.scan(list).orphans.map(\.pid) == [5_000_050, 5_000_051])
  }

  /// The first process of the system, so that no other cause makes the scan doubtful.
  @Test func anOrphanThatMayBeALeaderMakesTheScanDoubtful() {
    scan.adoptsOrphans.store(true, ordering: .relaxed)
    let young = process(1, parent: getpid(), session: 5_000_009)
    let old = process(1, parent: getpid(), session: 5_000_009, startTime: 49)
    #expect(!scan.scan([young]).isDoubtful)
    #expect(registry.beginLaunch() != nil)
    #expect(scan.scan([young]).isDoubtful && scan.scan([young]).orphans == [])
    #expect(!scan.scan([old]).isDoubtful)
  }

  @Test func duringALaunchNoChildIsAnOrphan() {
    scan.adoptsOrphans.store(true, ordering: .relaxed)
    let list = [process(5_000_001, parent: getpid())]
    #expect(registry.beginLaunch() != nil && registry.beginLaunch() != nil)
    #expect(scan.scan(list).orphans == [])
    registry.abandonLaunch()
    #expect(scan.scan(list).orphans == [])
    registry.abandonLaunch()
    #expect(scan.scan(list).orphans.map(\.pid) == [5_000_001])
  }

  // MARK: Ended children, in a process that has no others

  /// An ended child in a session of its own.
  private static func endedChild() throws -> Support.ChildProcess {
    let child = try Support.ChildProcess(["setsid", "sleep", "3600"])
    guard eventually({ getsid(child.pid) == child.pid }) else { exit(EXIT_FAILURE) }
    kill(child.pid, SIGKILL)
    guard eventually({ ChildStatus.exit(of: child.pid) != nil }) else { exit(EXIT_FAILURE) }
    return child
  }

  private static func adoptingScan(_ registry: ProcessRegistry) -> ProcessScan {
    let scan = ProcessScan(registry: registry, cookie: "c-1")
    scan.adoptsOrphans.store(true, ordering: .relaxed)
    return scan
  }

  @Test func anOrphanBehindALeaderThatHasEndedIsReaped() async {
    await #expect(processExitsWith: .success) {
      let registry = ProcessRegistry()
      let (leader, orphan) = try (Self.endedChild(), Self.endedChild())
      _ = Self.launch(leader.pid, in: registry)
      guard !Self.adoptingScan(registry).reapAllOrphans(), orphan.ending() == nil else { exit(EXIT_FAILURE) }
      guard leader.ending() == .signalled(SIGKILL) else { exit(EXIT_FAILURE) }
    }
  }

  /// Otherwise the next scan for orphans would come later and later.
  @Test func aScanBeforeALeaderIsReapedIsNotInVain() async {
    await #expect(processExitsWith: .success) {
      let registry = ProcessRegistry()
      let leader = try Self.endedChild()
      _ = Self.launch(leader.pid, in: registry)
      guard !Self.adoptingScan(registry).reapAllOrphans() else { exit(EXIT_FAILURE) }
      guard leader.ending() == .signalled(SIGKILL) else { exit(EXIT_FAILURE) }
    }
  }

  @Test func aChildThatStartedWithoutAJobIsNotReaped() async {
    await #expect(processExitsWith: .success) {
      let child = try Self.endedChild()
      let scan = Self.adoptingScan(ProcessRegistry())
      guard scan.reapAllOrphans(), child.ending() == .signalled(SIGKILL) else { exit(EXIT_FAILURE) }
      guard !scan.reapAllOrphans() else { exit(EXIT_FAILURE) }
    }
  }

  // MARK: When no process is left

  /// The first scan of these that says so, counted from 1: `.` saw nothing, `?` doubted, `!` saw a process alive.
  private func end(_ scans: String, needed: Int32) -> Int? {
    var silence = cprocess_silence()
    for (index, scan) in scans.enumerated()
    where cprocess_is_silent(&silence, needed, scan == "!", scan == "?") {
      return index + 1
    }
    return nil
  }

  @Test func asManyCertainScansAsNeededFindTheEnd() {
    #expect(end("...", needed: 4) == nil)
    #expect(end("....", needed: 4) == 4)
    #expect(end("..", needed: 2) == 2)
  }

  @Test func aLivingProcessAndADoubtBeginThemAnew() {
    #expect(end("...!....", needed: 4) == 8)
    #expect(end("...?....", needed: 4) == 8)
  }

  @Test func whereEachScanIsDoubtful32Suffice() {
    let doubts = String(repeating: "?", count: 31)
    #expect(end(doubts, needed: 4) == nil)
    #expect(end(doubts + "?", needed: 4) == 32)
    #expect(end("!" + doubts, needed: 4) == nil)
    #expect(end(doubts + "!" + doubts, needed: 4) == nil)
    #expect(end(doubts + ".", needed: 4) == 32)
  }

  // MARK: The processes of the system

  @Test func theStartTimeLiesBetweenTheTicksAroundTheStart() throws {
    let before = cprocess_ticks()
    let child = try Support.ChildProcess(["sleep", "3600"])
    defer { child.stop() }
    let after = cprocess_ticks()
    var info = cprocess_info()
    #expect(cprocess_look(child.pid, &info) && (before...after).contains(info.start_time))
  }

  @Test func theListHasThisProcessAndItsChildren() throws {
    let child = try Support.ChildProcess(["sleep", "3600"], leadsGroup: true)
    defer { child.stop() }
    let list = ProcessScan.list()
    let own = try #require(list.first { $0.pid == getpid() })
    #expect(own.session == getsid(0) && own.parent == getppid() && !own.ended)
    let found = try #require(list.first { $0.pid == child.pid })
    #expect(found.parent == getpid() && found.group == child.pid && found.session == own.session)
  }

  /// Tried again, because many other processes may be started meanwhile: then all would have to be scanned.
  @Test func aScanFindsWhatWasStartedAfterAProcess() throws {
    let isFound = try (0..<50).contains { _ in
      let newest = cprocess_newest()
      let child = try Support.ChildProcess(
        ["setsid", "sleep", "3600"], environment: ["OPDASH_RUN": "\(cookie)/7", "PATH": "/usr/bin:/bin"])
      defer { child.stop() }
      #expect(eventually { getsid(child.pid) == child.pid })
      #expect(scan.scanAll().members[7]?.map(\.pid) == [child.pid])
      guard let result = scan.scanStarted(after: newest), let later = scan.scanStarted(after: child.pid) else {
        return false
      }
      #expect(result.members[7]?.map(\.pid) == [child.pid])
      #expect(later.members[7] == nil)
      return true
    }
    #expect(isFound)
  }

  @Test func whereAllMustBeScannedAScanOfTheNewOnesIsNone() {
    #expect(scan.scanStarted(after: cprocess_newest() - 257) == nil)
    // The numbers have wrapped around.
    #expect(scan.scanStarted(after: .max) == nil)
  }

  @Test func aSignalReachesAMemberOnlyInItsSession() throws {
    let child = try Support.ChildProcess(["sleep", "3600"])
    let own = getsid(0)
    ProcessScan.Member(pid: child.pid, session: own + 1, group: child.pid).signal(SIGKILL)
    ProcessScan.Member(pid: child.pid, session: own, group: child.pid).signal(SIGTERM)
    #expect(child.ending(waiting: true) == .signalled(SIGTERM))
  }
}
