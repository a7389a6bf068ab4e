import Foundation
import JobModel
import Support
import Testing

@testable import RunStore

struct RunLockTests {
  private let rows: StoreRows

  init() throws { rows = try StoreRows() }

  @Test func aRunOfAnotherBootGoesOnWhileItsLockIsHeld() throws {
    let number = try rows.addRun("far", ended: nil)
    try rows.addRun("killed", ended: nil)
    let store = try rows.store()
    func goingOn() throws -> [String] { try store.runs().filter(store.isGoingOn).map(\.id) }
    #expect(try goingOn() == [])
    var lock = RunLock(run: number, in: rows.state)
    #expect(lock != nil)
    #expect(try goingOn() == ["far"])
    lock = nil
    #expect(try goingOn() == [])
  }

  @Test func aRunThatHasEndedDoesNotGoOnWhateverIsLocked() throws {
    let number = try rows.addRun("ended")
    let lock = RunLock(run: number, in: rows.state)
    let store = try rows.store()
    #expect(try !store.isGoingOn(store.run(named: "ended")))
    _ = lock
  }

  @Test func twoProgramsDoNotHoldTheLockOfOneRun() {
    let first = RunLock(run: 1, in: rows.state)
    #expect(first != nil && RunLock(run: 1, in: rows.state) == nil)
    // Looking at it does not give it back.
    #expect(RunLock.isHeld(run: 1, in: rows.state) && RunLock.isHeld(run: 1, in: rows.state))
    #expect(!RunLock.isHeld(run: 2, in: rows.state) && !RunLock.isHeld(run: .min, in: rows.state))
    _ = first
  }

  @Test func aRunOfAnotherMachineIsNotPruned() throws {
    let number = try rows.addRun("far", ended: nil)
    let lock = RunLock(run: number, in: rows.state)
    let now = Date(timeIntervalSince1970: 10_000_000)
    #expect(try rows.store().prune(Retention(), now: now).runs == 0)
    _ = lock
  }

  @Test func aFileInThePlaceOfTheLocksIsNotFollowed() throws {
    let path = rows.folder.file("opdash.live").path
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: rows.folder.file("other").path)
    #expect(RunLock(run: 1, in: rows.state) == nil)
    #expect(rows.folder.names(in: "").contains("other") == false)
  }

  @Test func aRunThatIsRecordedHoldsItsLockUntilItIsGone() throws {
    let state = rows.folder.file("own").path
    let feed = FakeFeed()
    var recorder: RunRecorder? = RunRecorder(
      folder: state, origin: RunOrigin(command: "run", directory: "/", slots: 1, onFailure: "keep-going"))
    recorder?.start(feed)
    feed.begin(1)
    #expect(recorder?.flush(within: .patience) == true)
    #expect(RunLock.isHeld(run: 1, in: state))
    recorder = nil
    #expect(eventually { !RunLock.isHeld(run: 1, in: state) })
  }
}
