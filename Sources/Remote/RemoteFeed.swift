import Basics
import Dispatch
import Foundation
import JobModel

/// The run of another program as a feed.
///
/// Folds the events that the program sends. Where it has missed some, the program sends a new snapshot, and subscribers get
/// the events that lead to it. When their queues are behind, it reads no more, so that its program sees a slow reader.
package final class RemoteFeed: JobFeed, @unchecked Sendable {
  // Safe: `state` has a lock; the other variables are touched only on `queue`.

  private struct State {
    var run = Run()
    /// On the clock of the machine.
    var began: Duration?
    /// Why nothing comes any more.
    var end: RemoteError?
    var whenEnded: (@Sendable (RemoteError) -> Void)?
    var nextCommand = 1
    /// The receivers of answers to commands, by the number of the command.
    var waiting: [Int: @Sendable (String?) -> Void] = [:]
    /// Whether the first snapshot is whole, or the connection has ended.
    var isReady = false
  }

  package let greeting: Greeting
  package let access: RemoteAccess
  private let queue = DispatchQueue(label: "opdash.remote-feed", qos: .userInitiated)
  private let state = Lock(State())
  private let hub = EventHub()
  private var channel: LineChannel?
  private var events = EventReader()
  private var snapshot: RunStateReader?
  private var hasRun = false
  /// Signalled at each line until the feed is ready.
  private let heard = DispatchSemaphore(value: 0)

  /// How many events a subscriber may be behind.
  private static let limit = 50_000

  /// Attaches to a program; returns once the run is known, with at most `logLines` lines of the output of each job.
  ///
  /// `wait` waits for the next line: a large snapshot may take long altogether.
  package init(
    _ program: RemoteProgram, access: RemoteAccess = .full, logLines: Int = LogRing.capacity,
    wait: (DispatchSemaphore) -> DispatchTimeoutResult = { $0.wait(timeout: .now() + .seconds(10)) }
  ) throws(RemoteError) {
    (greeting, self.access) = (program.greeting, access)
    guard let descriptor = program.takeDescriptor() else { throw .ended }
    queue.sync {
      channel = LineChannel(
        descriptor, on: queue, lineLimit: Wire.factLimit,
        LineChannel.Handlers(
          receive: { [weak self] line in self?.receive(line) }, drained: {},
          ended: { [weak self] end in self?.end(end == .lineTooLong ? "a line is too long" : nil) }))
      channel?.send(Hello(access: access, logLines: logLines).line)
    }
    while !state.withLock(\.isReady) {
      guard wait(heard) == .success else { throw .silent(pid: greeting.pid) }
    }
    if let end = state.withLock(\.end) { throw end }
  }

  deinit {
    let channel = channel
    queue.async { channel?.close() }
  }

  // MARK: The feed

  package var attachment: RunAttachment? { access == .full ? .full : .readOnly }

  package var elapsed: Duration {
    state.withLock { state in
      guard state.run.start != nil, let began = state.began, state.end == nil else { return state.run.time }
      return max(state.run.time, Wire.machineTime - began)
    }
  }

  package func subscribe(
    on queue: DispatchQueue, _ receive: @escaping @Sendable ([JobEvent]) -> Void
  ) -> JobSubscription {
    state.withLock { hub.subscribe(to: $0.run, on: queue, receive) }
  }

  package func send(_ command: JobCommand) { send(command) { _ in } }

  /// Sends a command; calls `receive`, on any thread, with why it was not carried out, or nil.
  package func send(_ command: JobCommand, _ receive: @escaping @Sendable (String?) -> Void) {
    guard access == .full else { return receive(RemoteAccess.refusal) }
    queue.async { [self] in
      let number = state.withLock { state -> Int? in
        guard state.end == nil else { return nil }
        defer { state.nextCommand += 1 }
        return state.nextCommand
      }
      guard let number else { return receive("\(RemoteError.ended)") }
      guard let line = command.line(number) else { return receive("only the run's own program can do this") }
      state.withLock { $0.waiting[number] = receive }
      channel?.send(line)
    }
  }

  /// Calls `body` once, on any thread, when the program sends nothing any more: it has ended, or has sent a faulty line.
  package func whenEnded(_ body: @escaping @Sendable (RemoteError) -> Void) {
    let end = state.withLock { state in
      if state.end == nil { state.whenEnded = body }
      return state.end
    }
    if let end { body(end) }
  }

  // MARK: On the queue

  private func end(_ fault: String?) { end(fault.map { .garbled($0, pid: greeting.pid) } ?? .ended) }

  private func end(_ error: RemoteError) {
    channel?.close()
    channel = nil
    let (isFirst, whenEnded, waiting) = state.withLock { state in
      defer { (state.whenEnded, state.waiting, state.isReady) = (nil, [:], true) }
      let isFirst = state.end == nil
      if isFirst { state.end = error }
      return (isFirst, state.whenEnded, state.waiting)
    }
    guard isFirst else { return }
    for receive in waiting.values { receive("\(RemoteError.ended)") }
    heard.signal()
    whenEnded?(error)
  }

  private func receive(_ line: UnsafeBufferPointer<UInt8>) {
    let wasReady = hasRun
    do throws(JSONFault) {
      try receive(JSONScanner.fields(of: line))
    } catch {
      end(error.message)
    }
    if !wasReady { heard.signal() }
  }

  private func receive(_ fields: JSONFields) throws(JSONFault) {
    let type = try fields.text("type")
    switch type {
    case "refused": end(RemoteError.refused(try fields.text("reason")))
    case "answer":
      let number = try fields.count("n")
      let receive = state.withLock { $0.waiting.removeValue(forKey: number) }
      receive?(try fields.text(ifAny: "reason"))
    case "clock": try begin(fields)
    default:
      guard let part = RunStateReader.Line(rawValue: type) else { return take(try events.read(fields)) }
      guard snapshot != nil else { throw JSONFault("a part of a snapshot has no beginning") }
      guard let (run, events) = try snapshot?.read(part, fields) else { return }
      snapshot = nil
      self.events = events
      try take(run)
    }
  }

  /// Begins a snapshot, which replaces missed events and the answers to commands.
  private func begin(_ fields: JSONFields) throws(JSONFault) {
    let (began, answered) = (try fields.duration("began"), try fields.count("answered"))
    snapshot = RunStateReader()
    let done = state.withLock { state in
      state.began = began
      defer { state.waiting = state.waiting.filter { $0.key > answered } }
      return state.waiting.filter { $0.key <= answered }
    }
    for receive in done.values { receive(nil) }
  }

  private func take(_ events: [JobEvent]) {
    guard !events.isEmpty else { return }
    state.withLock { state in
      for event in events { state.run.apply(event) }
      hub.post(events)
    }
    slowDown()
  }

  private func take(_ run: Run) throws(JSONFault) {
    guard hasRun else {
      hasRun = true
      return state.withLock { ($0.run, $0.isReady) = (run, true) }
    }
    let isLater = state.withLock { state in
      guard let events = state.run.events(to: run) else { return false }
      state.run = run
      hub.post(events)
      return true
    }
    guard isLater else { throw JSONFault("a snapshot is not of a later state of the run") }
    slowDown()
  }

  /// Reads no more until every subscriber has caught up.
  private func slowDown() {
    guard let slow = hub.mailbox(holding: Self.limit) else { return }
    channel?.setReading(false)
    slow.whenBelow(Self.limit / 2) { [weak self] in
      guard let self else { return }
      queue.async {
        self.channel?.setReading(true)
        self.slowDown()
      }
    }
  }
}
