import Foundation
import Operations
import Support
import Testing

@testable import Slurm

@Suite struct OutputFollowerTests {
  private final class Rig: Sendable {
    let folder: TemporaryFolder
    let clock = ManualOperationClock()
    let operation = ClosureOperation<Void> {}
    let lines = Lock<[String]>([])
    let follower: OutputFollower
    private let token = Lock<ObservationToken?>(nil)
    private let queue = DispatchQueue(label: "test.output")

    init(secrets: [String] = [], silence: Duration? = nil) throws {
      folder = try TemporaryFolder()
      follower = OutputFollower(
        path: folder.file("out").path(), secrets: SecretMask(secrets), for: operation, silence: silence, clock: clock)
      let lines = lines
      let observation = operation.observeLog(on: queue) { _, line in lines.withLock { $0.append(line.text) } }
      token.withLock { $0 = observation }
    }

    func write(_ text: String) throws {
      let path = folder.file("out").path()
      let old = FileManager.default.contents(atPath: path) ?? Data()
      try (old + Data(text.utf8)).write(to: URL(fileURLWithPath: path))
    }

    func shows(_ expected: [String]) -> Bool {
      eventually {
        clock.advance(by: .milliseconds(100))
        return lines.withLock(\.self) == expected
      }
    }

    /// Lets the next look happen; returns the time from it to the one after it, nil if there is none.
    func nextLook() -> Duration? {
      guard eventually({ !clock.due.isEmpty }), let due = clock.due.first else { return nil }
      clock.advance(by: due - clock.now)
      _ = eventually { !clock.due.isEmpty }
      return clock.due.first.map { $0 - clock.now }
    }

    func finish() {
      let done = Lock(false)
      follower.finish(on: "node1", hasSucceeded: true, mayBeAbsent: false) { _ in done.withLock { $0 = true } }
      _ = eventually {
        clock.advance(by: .milliseconds(100))
        return done.withLock(\.self)
      }
    }
  }

  @Test func linesAreLoggedAsTheFileGrows() throws {
    let rig = try Rig()
    rig.follower.start(on: "node1")
    try rig.write("one\ntw")
    #expect(rig.shows(["one"]))
    try rig.write("o\nthree")
    #expect(rig.shows(["one", "two"]))
    rig.finish()
    #expect(rig.shows(["one", "two", "three"]))
  }

  @Test func allOfALongOutputIsLoggedBeforeTheEnd() throws {
    let rig = try Rig()
    let all = (0..<50_000).map { "line \($0)" }
    try rig.write(all.joined(separator: "\n") + "\n")
    rig.finish()
    #expect(rig.shows(all))
  }

  @Test func afterTheEndNoLookFollows() throws {
    let rig = try Rig()
    let all = (0..<50_000).map { "line \($0)" }
    try rig.write(all.joined(separator: "\n") + "\n")
    rig.follower.start(on: "node1")
    rig.finish()
    #expect(rig.shows(all))
    #expect(rig.clock.due.isEmpty)
  }

  @Test func secretsAreMasked() throws {
    let rig = try Rig(secrets: ["s3cret"])
    try rig.write("the s3cret\nno end s3cr")
    rig.finish()
    #expect(rig.shows(["the ***", "no end s3cr"]))
  }

  @Test func aFileThatIsNotVisibleFromHereIsSaidToBeSoOnce() throws {
    let rig = try Rig()
    rig.follower.start(on: "node1")
    let isSaid = eventually {
      rig.clock.advance(by: .seconds(1))
      return rig.lines.withLock { !$0.isEmpty }
    }
    #expect(isSaid)
    rig.clock.advance(by: .seconds(60))
    rig.finish()
    #expect(rig.lines.withLock(\.count) == 1)
    #expect(rig.lines.withLock { $0.first?.hasPrefix("the output is not visible from here: it is in ") } == true)
    #expect(rig.clock.now >= .seconds(30))
  }

  @Test func aSilentFileIsLookedAtEverMoreSeldom() throws {
    let rig = try Rig()
    try rig.write("one\n")
    rig.follower.start(on: "node1")
    #expect(rig.shows(["one"]))
    _ = eventually { !rig.clock.due.isEmpty }
    // Each step lets one look happen; the next one is due later than the last.
    for _ in 0..<8 {
      guard let due = rig.clock.due.first else { continue }
      rig.clock.advance(by: due - rig.clock.now)
      _ = eventually { !rig.clock.due.isEmpty }
    }
    #expect(rig.clock.due.first.map { $0 - rig.clock.now } == .seconds(4))
  }

  @Test func newsMakesTheLooksAsFrequentAsAtFirst() throws {
    let rig = try Rig()
    try rig.write("one\n")
    rig.follower.start(on: "node1")
    #expect(rig.shows(["one"]))
    for _ in 0..<8 { #expect(rig.nextLook() != nil) }
    try rig.write("two\n")
    #expect(rig.nextLook() == .milliseconds(250))
    #expect(rig.shows(["one", "two"]))
  }

  @Test func theEndMakesTheLooksAsFrequentAsAtFirst() throws {
    let rig = try Rig()
    rig.follower.start(on: "node1")
    for _ in 0..<6 { #expect(rig.nextLook() != nil) }
    let old = rig.clock.due
    rig.follower.finish(on: "node1", hasSucceeded: true, mayBeAbsent: false) { _ in }
    #expect(eventually { rig.clock.due != old && !rig.clock.due.isEmpty })
    #expect(rig.clock.due.map { $0 - rig.clock.now } == [.milliseconds(250)])
  }

  @Test func theTimeBetweenLooksIsDoubledUpToFourSeconds() throws {
    let rig = try Rig()
    rig.follower.start(on: "node1")
    #expect(eventually { !rig.clock.due.isEmpty })
    #expect(rig.clock.due == [.milliseconds(250)])
    let times = (0..<5).map { _ in rig.nextLook() }
    #expect(times == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(4)])
  }

  /// A silence that no look ends would end a job that writes.
  @Test(
    arguments: [
      (.seconds(3), .milliseconds(250)), (.seconds(16), .seconds(1)), (.seconds(60), .milliseconds(3750)),
      (.seconds(600), .seconds(4)),
    ] as [(Duration, Duration)])
  func looksAreFrequentEnoughForALimitOfSilence(silence: Duration, longest: Duration) throws {
    let rig = try Rig(silence: silence)
    rig.follower.start(on: "node1")
    #expect(eventually { !rig.clock.due.isEmpty })
    var last: Duration?
    for _ in 0..<6 { last = rig.nextLook() }
    #expect(last == longest)
  }

  private func gone(_ rig: Rig) -> String {
    "the output file \(rig.folder.file("out").path()) is gone: the later output of the program is lost"
  }

  @Test(arguments: ["", "new\n"]) func aFileThatIsGoneAfterItsLinesIsSaidToBeSo(text: String) throws {
    let rig = try Rig()
    try rig.write("one\ntwo\n")
    rig.follower.start(on: "node1")
    #expect(rig.shows(["one", "two"]))
    try FileManager.default.removeItem(at: rig.folder.file("out"))
    if !text.isEmpty { try rig.write(text) }
    // `finish` takes a look at another instant for the first one after the end.
    rig.clock.advance(by: .milliseconds(1))
    #expect(finish(rig, on: "node1") == false)
    #expect(eventually { rig.lines.withLock { $0.count > 2 } })
    #expect(rig.lines.withLock(\.self) == ["one", "two", gone(rig)])
  }

  /// Lets looks happen, each at its instant, until the follower has finished; returns whether the log file says all.
  private func finish(_ rig: Rig, on nodes: String, mayBeAbsent: Bool = false) -> Bool? {
    let kept = Lock<Bool?>(nil)
    let before = rig.clock.due
    rig.follower.finish(on: nodes, hasSucceeded: true, mayBeAbsent: mayBeAbsent) { isKept in
      kept.withLock { $0 = isKept }
    }
    guard eventually({ rig.clock.due != before || kept.withLock { $0 != nil } }) else { return nil }
    while kept.withLock({ $0 == nil }) {
      guard eventually({ !rig.clock.due.isEmpty || kept.withLock { $0 != nil } }) else { return nil }
      if let due = rig.clock.due.first { rig.clock.advance(by: max(.zero, due - rig.clock.now)) }
    }
    return kept.withLock(\.self)
  }

  private func sentence(_ rig: Rig, _ place: String) -> String {
    "the output is not visible from here: it is in \(rig.folder.file("out").path())\(place); "
      + "have the run recorded in a folder that the cluster's nodes share"
  }

  /// The looks are at 0, 0.25, 0.75, 1.75 and 3.75 seconds after the end.
  @Test(arguments: [("node1", "", " on node1"), ("node1", "node2", " on node2"), ("", "", "")])
  func theFileOfAJobThatHasEndedIsWaitedForThreeSeconds(start: String, end: String, place: String) throws {
    let rig = try Rig()
    rig.follower.start(on: start)
    #expect(eventually { rig.clock.due == [.milliseconds(250)] })
    rig.clock.advance(by: .milliseconds(100))
    #expect(finish(rig, on: end) == false)
    #expect(rig.clock.now == .milliseconds(3850))
    #expect(eventually { rig.lines.withLock { !$0.isEmpty } })
    #expect(rig.lines.withLock(\.self) == [sentence(rig, place)])
  }

  @Test func theFileOfAJobThatMayNotHaveBegunIsNotWaitedFor() throws {
    let rig = try Rig()
    #expect(finish(rig, on: "node1", mayBeAbsent: true) == false)
    #expect(rig.clock.now == .zero)
    #expect(rig.lines.withLock(\.isEmpty))
  }

  @Test func aFileThatAppearsAfterTheEndIsLogged() throws {
    let rig = try Rig()
    rig.follower.start(on: "node1")
    #expect(rig.nextLook() == .milliseconds(500))
    try rig.write("late\nlast")
    #expect(finish(rig, on: "node1") == false)
    #expect(rig.shows(["late", "last"]))
  }

  /// The looks are at 0.25, 0.75, 1.75, 3.75 seconds and from then on each four seconds.
  @Test func afterHalfAMinuteTheFirstNodeIsNamed() throws {
    let rig = try Rig()
    rig.follower.start(on: "node1")
    rig.follower.start(on: "node2")
    for _ in 0..<10 { #expect(rig.nextLook() != nil) }
    #expect(rig.clock.now == .milliseconds(27_750))
    #expect(rig.lines.withLock(\.isEmpty))
    #expect(rig.nextLook() == .seconds(4))
    #expect(eventually { rig.lines.withLock { !$0.isEmpty } })
    #expect(rig.lines.withLock(\.self) == [sentence(rig, " on node1")])
  }
}
