import Foundation
import Operations
import Support

@testable import Processes

/// A shell operation in a queue, with its output.
final class Shell: Sendable {
  private struct Heard {
    var output: [ProcessStream: [UInt8]] = [:]
    var isOver = false
    var chunks = 0
    var held: [@Sendable () -> Void] = []
    var isLate = false
  }

  let operation: ShellOperation
  private let heard: Lock<Heard>

  /// With `holds`, no chunk is consumed before `consumeAll`.
  init(_ launch: ProcessLaunch, holds: Bool = false) {
    let heard = Lock(Heard())
    self.heard = heard
    @Sendable func take(_ bytes: [UInt8], from stream: ProcessStream, consumed: @escaping @Sendable () -> Void) {
      let holds = heard.withLock { heard in
        heard.output[stream, default: []] += bytes
        heard.chunks += 1
        if heard.isOver { heard.isLate = true }
        if holds { heard.held.append(consumed) }
        return holds
      }
      if !holds { consumed() }
    }
    operation = ShellOperation(
      launch, output: .chunks { take($0, from: .stdout, consumed: $1) },
      error: .chunks { take($0, from: .stderr, consumed: $1) })
    operation.whenDone { _ in heard.withLock { $0.isOver = true } }
  }

  convenience init(_ script: String, grace: Duration = ProcessLaunch.endlessGrace) {
    self.init(ProcessLaunch(script: script, grace: grace))
  }

  /// The program ProcessProbe, which is built beside the tests.
  static let probe = Built.product("ProcessProbe")

  /// With a terminal of 100 columns and 30 rows.
  static func onTerminal(_ script: String) -> Shell { Shell(.onTerminal(script)) }

  private static let queue: OperationQueue = {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 64
    return queue
  }()

  func start() -> Shell {
    Self.queue.addOperation(operation)
    return self
  }

  /// Starts it and waits for its end.
  func run() -> Shell {
    _ = start().isOver()
    return self
  }

  func isOver() -> Bool { eventually { operation.isFinished } }

  var pid: Int32 { operation.processIdentifier ?? 0 }
  var chunks: Int { heard.withLock { $0.chunks } }
  var isLate: Bool { heard.withLock { $0.isLate } }
  func bytes(_ stream: ProcessStream) -> [UInt8] { heard.withLock { $0.output[stream] ?? [] } }
  func text(_ stream: ProcessStream = .stdout) -> String { String(decoding: bytes(stream), as: UTF8.self) }
  func says(_ text: String) -> Bool { eventually { self.text().contains(text) } }

  var exit: ProcessExit? { operation.exit }
  var error: ProcessError? {
    guard case .failure(let error) = operation.outcome else { return nil }
    return error as? ProcessError
  }

  /// Consumes the held chunks; returns whether there were any.
  @discardableResult
  func consumeAll() -> Bool {
    let held = heard.withLock { heard in
      defer { heard.held = [] }
      return heard.held
    }
    for consumed in held { consumed() }
    return !held.isEmpty
  }
}

extension ProcessLaunch {
  /// Longer than a test: what must obey the stop signal is not killed because it is slow.
  static let endlessGrace = Duration.seconds(3600)

  /// A script with a terminal of 100 columns and 30 rows.
  static func onTerminal(
    _ script: String, _ environment: ProcessEnvironment = .inherited, input: ProcessInput = .none
  ) -> ProcessLaunch {
    var launch = ProcessLaunch(script: script, environment: environment, input: input, grace: endlessGrace)
    launch.terminal = TerminalSize(columns: 100, rows: 30)
    return launch
  }
}

/// Follows a launch that a test does not follow.
final class NoDelegate: ChildDelegate {
  func childBegan(_ pid: pid_t) {}
  func childWrote(_ bytes: [UInt8], to stream: ProcessStream, consumed: @escaping @Sendable () -> Void) { consumed() }
  func childStopped(by signal: Int32?) {}
  func childEnded(_ exit: ProcessExit) {}
}
