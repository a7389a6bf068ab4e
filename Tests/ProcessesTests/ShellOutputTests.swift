import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// The output of a process that there is not: a test gives its pieces, on a clock that it moves.
struct ShellOutputTests {
  private let operation = ShellOperation(ProcessLaunch(["true"]))
  private let clock = ManualOperationClock()
  private let heard = Lock<[OperationLogLine]>([])
  private let queue = DispatchQueue(label: "test")
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func observe() -> ObservationToken {
    operation.observeLog(unfinished: true, on: queue) { [heard] _, line in heard.withLock { $0.append(line) } }
  }

  private func give(_ text: String, _ stream: ProcessStream = .stdout, to output: ShellOutput) {
    output.take(Array(text.utf8), from: stream, for: operation) {}
    output.queue.sync {}
  }

  /// The lines so far, the unfinished ones with `…`, once there are `count`.
  private func lines(_ count: Int) -> [String] {
    _ = eventually { heard.withLock { $0.count } >= count }
    return heard.withLock { $0.map { $0.text + ($0.isUnfinished ? "…" : "") } }
  }

  @Test func theUnfinishedLinesOfBothStreamsAreLoggedAfterThePause() {
    let (output, token) = (ShellOutput(file: nil, progress: nil, clock: clock), observe())
    give("out", to: output)
    give("error", .stderr, to: output)
    #expect(clock.due == [.milliseconds(100)])
    clock.advance(by: .milliseconds(100))
    #expect(lines(2) == ["out…", "error…"])
    #expect(clock.due == [])
    give("!\n", .stderr, to: output)
    #expect(lines(3) == ["out…", "error…", "error!"])
    #expect(heard.withLock { $0.map(\.source) } == [.standardOutput, .standardError, .standardError])
    withExtendedLifetime(token) {}
  }

  @Test(arguments: ProcessStream.allCases) func inAFloodNoUnfinishedLineIsLogged(stream: ProcessStream) {
    let (output, token) = (ShellOutput(file: nil, progress: nil, clock: clock), observe())
    give("a", stream, to: output)
    give("b\nc", stream, to: output)
    clock.advance(by: .milliseconds(100))
    #expect(lines(1) == ["ab"])
    #expect(clock.due == [.milliseconds(200)])
    clock.advance(by: .milliseconds(100))
    #expect(lines(2) == ["ab", "c…"])
    withExtendedLifetime(token) {}
  }

  @Test func theLastLinesComeBeforeTheEndAndNoTimerAfterIt() {
    let (output, token, isOver) = (ShellOutput(file: nil, progress: nil, clock: clock), observe(), Lock(false))
    give("out", to: output)
    give("error", .stderr, to: output)
    #expect(clock.due.count == 1)
    output.finish(for: operation, hasSucceeded: true) { isOver.withLock { $0 = true } }
    output.queue.sync {}
    #expect(isOver.withLock { $0 })
    #expect(clock.due == [])
    #expect(lines(2) == ["out", "error"])
    withExtendedLifetime(token) {}
  }

  @Test func whereThereWasNoOutputTheEndIsAtOnce() {
    let (output, isOver) = (ShellOutput(file: nil, progress: nil, clock: clock), Lock(false))
    output.finish(for: operation, hasSucceeded: false) { isOver.withLock { $0 = true } }
    #expect(isOver.withLock { $0 })
  }

  @Test func aFileThatCannotBeMadeIsToldOnce() {
    let path = folder.file("none/a.log").path()
    let (output, token) = (ShellOutput(file: LogFile(path: path), progress: nil, clock: clock), observe())
    give("a\n", to: output)
    give("b\n", to: output)
    let problem = "the output is not kept from here on: \(path): No such file or directory"
    #expect(lines(3) == ["a", problem, "b"])
    #expect(heard.withLock { $0.map(\.source) } == [.standardOutput, .note, .standardOutput])
    withExtendedLifetime(token) {}
  }

  /// The file of a short output, in pieces that end within 4 KiB or after it.
  @Test(arguments: [(4096, false), (4097, true)])
  func aFileIsMadeForWhatIsNotShort(count: Int, isMade: Bool) throws {
    let file = LogFile(path: folder.file("a.log").path())
    let output = ShellOutput(file: file, keepsShort: false, progress: nil, clock: clock)
    let text = String(repeating: String(repeating: "x", count: 15) + "\n", count: 256)
    give(String(text.prefix(4000)), to: output)
    give(String(text.dropFirst(4000)) + String(repeating: "\n", count: count - 4096), to: output)
    output.finish(for: operation, hasSucceeded: true) {}
    output.queue.sync {}
    #expect(folder.names() == (isMade ? ["a.log"] : []))
    if isMade { #expect(try Data(contentsOf: folder.file("a.log")).count == count) }
  }

  @Test(arguments: [(true, []), (false, ["a.log"])])
  func aShortOutputOfAFailureIsKept(hasSucceeded: Bool, names: [String]) {
    let file = LogFile(path: folder.file("a.log").path())
    let output = ShellOutput(file: file, keepsShort: false, progress: nil, clock: clock)
    give("a\n", to: output)
    output.finish(for: operation, hasSucceeded: hasSucceeded) {}
    output.queue.sync {}
    #expect(folder.names() == names)
  }

  @Test func whatObserversHaveNotHandledHoldsTheStreamUp() {
    let (output, token, consumed) = (ShellOutput(file: nil, progress: nil, clock: clock), observe(), Lock(0))
    queue.suspend()
    for _ in 0..<16 { output.take(Array("x\n".utf8), from: .stdout, for: operation) { consumed.withLock { $0 += 1 } } }
    output.queue.sync {}
    #expect(consumed.withLock { $0 } < 16)
    queue.resume()
    #expect(eventually { consumed.withLock { $0 } == 16 })
    #expect(lines(16).count == 16)
    withExtendedLifetime(token) {}
  }

  /// Beside a large output that waits, a program that writes one line ends only when that line is handled.
  @Test func aLargeOutputHoldsUpEveryOther() {
    let other = ShellOperation(ProcessLaunch(["true"]))
    let tokens = [observe(), other.observeLog(on: queue) { _, _ in }]
    let outputs = (0..<2).map { _ in ShellOutput(file: nil, progress: nil, clock: clock) }
    let consumed = Lock<[Int]>([])
    queue.suspend()
    let lines = Array(repeatElement("x\n", count: 50_000).joined().utf8)
    outputs[0].take(lines, from: .stdout, for: operation) { consumed.withLock { $0.append(0) } }
    outputs[0].queue.sync {}
    outputs[1].take(Array("y\n".utf8), from: .stdout, for: other) { consumed.withLock { $0.append(1) } }
    outputs[1].queue.sync {}
    #expect(consumed.withLock { $0 } == [])
    queue.resume()
    #expect(eventually { consumed.withLock { $0.sorted() } == [0, 1] })
    withExtendedLifetime(tokens) {}
  }
}
