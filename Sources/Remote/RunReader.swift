import Dispatch
import Foundation
import JobModel

/// One program that is attached to a run, as the run's program sees it.
///
/// Confined to the server's queue.
final class RunReader: @unchecked Sendable {
  // Safe: all variables are touched only on the server's queue.

  private enum Phase {
    /// Before the reader's hello.
    case greeted
    case snapshot(RunStateWriter)
    case events
    /// The other program sends the text of an addition.
    case adding(Addition)
    /// A new snapshot follows once the reader has taken its output.
    case behind
    case closing
  }

  private weak var server: (any RunReaderServer)?
  private let queue: DispatchQueue
  private let whenClosed: () -> Void
  private var channel: LineChannel?
  private var phase = Phase.greeted
  private var hello = Hello(access: .readOnly, logLines: 0)
  /// The events that follow the snapshot which is being sent.
  private var held: [UInt8] = []
  private var isHeldLost = false
  private var answered = 0
  /// The number of jobs in its newest snapshot.
  private var jobs = 0
  /// The number of the first event that it has not been given; none is given before a snapshot.
  private(set) var nextSeq = Int.max

  /// How many bytes of events a reader may be behind.
  static let limit = 1 << 20
  /// A snapshot is written as it is taken, in pieces of about this many bytes.
  private static let piece = 1 << 18

  /// Takes over a connected socket; `whenClosed` is called once.
  init(_ socket: Int32, on queue: DispatchQueue, server: any RunReaderServer, whenClosed: @escaping () -> Void) {
    (self.queue, self.server, self.whenClosed) = (queue, server, whenClosed)
    channel = LineChannel(
      socket, on: queue, lineLimit: Wire.commandLimit,
      LineChannel.Handlers(
        receive: { [weak self] line in self?.receive(line) }, drained: { [weak self] in self?.proceed() },
        ended: { [weak self] end in
          guard let self else { return }
          if end == .lineTooLong { refuse("a line is too long") } else { close() }
        }))
  }

  /// Whether it takes the events of the run.
  var isFollowing: Bool {
    switch phase {
    case .greeted, .adding, .closing: false
    case .snapshot, .events, .behind: true
    }
  }

  func greet(_ greeting: Greeting) { channel?.send(greeting.line) }

  /// Says why nothing more comes, and closes.
  func refuse(_ reason: String) {
    channel?.send(Wire.refusal(reason))
    close()
  }

  func close() {
    guard let channel else { return }
    self.channel = nil
    phase = .closing
    channel.close()
    whenClosed()
  }

  /// Whether it has taken all events before this one.
  func hasAll(upTo seq: Int) -> Bool {
    guard case .events = phase else { return false }
    return nextSeq >= seq && channel?.unsent == 0
  }

  /// Sends lines of events, which are all up to `end` that it has not been given; or notes that it misses them.
  func send(_ lines: ArraySlice<UInt8>, upTo end: Int) {
    nextSeq = end
    guard let channel else { return }
    switch phase {
    case .greeted, .adding, .behind, .closing: break
    case .snapshot:
      isHeldLost = isHeldLost || held.count + lines.count > Self.limit
      if isHeldLost { held = [] } else { held += lines }
    case .events:
      if channel.unsent + lines.count > Self.limit {
        channel.dropUnsent()
        phase = .behind
        if channel.unsent == 0 { proceed() }
      } else {
        channel.send(lines)
      }
    }
  }

  // MARK: What it says

  private func receive(_ line: UnsafeBufferPointer<UInt8>) {
    do throws(JSONFault) {
      let fields = try JSONScanner.fields(of: line)
      switch phase {
      case .greeted:
        if let addition = try Addition(fields) { return phase = .adding(addition) }
        hello = try Hello(fields)
        beginSnapshot()
      case .adding(var addition):
        guard try addition.take(fields) else { return phase = .adding(addition) }
        phase = .closing
        add(addition)
      case .snapshot, .events, .behind, .closing: try receive(command: fields)
      }
    } catch {
      refuse(error.message)
    }
    // Who does not take the answers is read no further until it does.
    if let channel, channel.unsent > Self.limit { channel.setReading(false) }
  }

  private func receive(command fields: JSONFields) throws(JSONFault) {
    guard try fields.text("type") == "command", let server else { throw JSONFault("a command was expected") }
    let number = try fields.count("n")
    guard hello.access == .full else {
      channel?.send(Wire.answer(number, refusedBecause: RemoteAccess.refusal))
      return
    }
    answered = number
    do throws(JSONFault) {
      server.feed.send(try JobCommand(fields, jobs: max(jobs, server.jobs)))
      channel?.send(Wire.answer(number))
    } catch {
      channel?.send(Wire.answer(number, refusedBecause: error.message))
    }
  }

  /// Adds the jobs of a whole text, and answers.
  private func add(_ addition: Addition) {
    guard let feed = server?.feed as? any ExtensibleFeed else {
      return refuse("the queue of a program takes no jobs from elsewhere")
    }
    feed.add(addition.text, addition.style) { [self] result in
      queue.async { self.channel?.send(Addition.answer(result)) }
    }
  }

  // MARK: Snapshots

  private func beginSnapshot() {
    guard let server, let channel else { return }
    guard let run = server.snapshot(for: self) else { return close() }
    (nextSeq, jobs) = (run.nextSeq, run.jobs.count)
    (held, isHeldLost) = ([], false)
    channel.send(Wire.clock(began: max(.zero, Wire.machineTime - server.feed.elapsed), answered: answered))
    phase = .snapshot(RunStateWriter(run, logLines: hello.logLines))
    proceed()
  }

  /// Sends the next piece of a snapshot, or begins one, if the reader has taken everything before.
  private func proceed() {
    if let channel, channel.unsent == 0 { channel.setReading(true) }
    // A line that was read may have closed it.
    guard let channel else { return }
    switch phase {
    case .greeted, .adding, .closing: break
    case .events: server?.checkFinished()
    case .behind: if channel.unsent == 0 { beginSnapshot() }
    case .snapshot(var writer):
      guard channel.unsent == 0 else { return }
      var piece: [UInt8] = []
      while !writer.isDone, piece.count < Self.piece { writer.appendNext(to: &piece) }
      phase = .snapshot(writer)
      if writer.isDone {
        phase = isHeldLost ? .behind : .events
        piece += held
        held = []
      }
      channel.send(piece)
      // Later, so that the other readers have their turn.
      if channel.unsent == 0 { queue.async { [weak self] in self?.proceed() } }
    }
  }
}

/// The server of a reader; everything is called on its queue.
protocol RunReaderServer: AnyObject {
  var feed: any JobFeed { get }
  /// The number of jobs whose events have been delivered.
  var jobs: Int { get }
  /// The run as it stands; from now on its events are delivered to the readers.
  ///
  /// Nil where the reader is behind a run of a queue that has ended.
  func snapshot(for reader: RunReader) -> Run?
  /// Looks whether every reader has what there is, when the program is about to end.
  func checkFinished()
}
