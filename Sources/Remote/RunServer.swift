import Basics
import Dispatch
import Foundation
import JobModel

/// Shows a run to other programs of this user over a socket, and takes their commands.
///
/// A server never waits for a reader, and the run never waits for the server. Unread output is bounded; a reader that is
/// behind gets a snapshot of the run instead of the missed events. Without readers it has no subscription, so that an
/// unwatched run pays nothing for it.
///
/// A queue may have another run after the end of one: the readers of the ended one are left once they have all of it.
package final class RunServer: RunReaderServer, @unchecked Sendable {
  // Safe: all variables are touched only on `queue`.

  let feed: any JobFeed
  private let greeting: Greeting
  private let describe: @Sendable (inout Greeting) -> Void
  private let listener: SocketFolder.Listener
  private let queue = DispatchQueue(label: "opdash.remote")
  private let clock: any OperationClock
  private var accepting: any DispatchSourceRead
  private var readers: [Int: RunReader] = [:]
  private var nextReader = 0
  private var subscription: JobSubscription?
  private var writer = EventWriter()
  private var isFinishing: DispatchSemaphore?
  /// The number of the event after the last one of a queue's run that has ended: the queue's next run has other readers.
  private var end: Int?

  /// How many programs may be attached at once.
  private static let readerLimit = 64
  /// The pause before it accepts again when no descriptor is free.
  private static let pause = Duration.seconds(1)

  /// Accepts readers from now on; `describe` completes a greeting, by default from a snapshot of the run.
  package init(
    _ feed: any JobFeed, _ greeting: Greeting, on listener: SocketFolder.Listener, clock: any OperationClock = .system,
    describe: (@Sendable (inout Greeting) -> Void)? = nil
  ) {
    (self.feed, self.greeting, self.listener, self.clock) = (feed, greeting, listener, clock)
    self.describe = describe ?? { $0.read(feed.snapshot) }
    accepting = DispatchSource.makeReadSource(fileDescriptor: listener.descriptor, queue: queue)
    let descriptor = listener.descriptor
    accepting.setCancelHandler { close(descriptor) }
    accepting.setEventHandler { [weak self] in self?.accept() }
    accepting.resume()
  }

  /// A server with a socket in the first folder that takes one; throws the error of the last.
  package static func inFirst(
    of paths: [String], _ feed: any JobFeed, _ greeting: Greeting,
    describe: (@Sendable (inout Greeting) -> Void)? = nil
  ) throws(RemoteError) -> RunServer {
    var problem = RemoteError.folder("XDG_RUNTIME_DIR", reason: "neither it nor HOME is set")
    for path in paths {
      do throws(RemoteError) {
        if let folder = try SocketFolder(path, makes: true) {
          return RunServer(feed, greeting, on: try folder.listen(), describe: describe)
        }
      } catch {
        problem = error
      }
    }
    throw problem
  }

  /// The path of the socket.
  package var path: String { listener.path }

  deinit {
    listener.remove()
    accepting.cancel()
  }

  /// Stops accepting, gives the readers at most `patience` to take the rest, and closes.
  ///
  /// On another queue than a reader's.
  package func finish(patience: DispatchTimeInterval = .seconds(1)) {
    listener.remove()
    let done = DispatchSemaphore(value: 0)
    queue.async { [self] in
      accepting.cancel()
      isFinishing = done
      for reader in readers.values where !reader.isFollowing { reader.close() }
      // A run that is left as it is has no last event.
      if !readers.isEmpty, feed.snapshot.summary == nil { for reader in readers.values { reader.close() } }
      checkFinished()
    }
    _ = done.wait(timeout: .now() + patience)
  }

  // MARK: On the queue

  private func accept() {
    while true {
      let socket = Foundation.accept(listener.descriptor, nil, nil)
      guard socket >= 0 else {
        if [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(errno) { pauseAccepting() }
        if errno == EINTR || errno == ECONNABORTED { continue }
        return
      }
      // Programs that are started before this do not inherit it either: they get the descriptors that are meant for them.
      _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
      _ = fcntl(socket, F_SETFL, O_NONBLOCK)
      greet(socket)
    }
  }

  private func pauseAccepting() {
    accepting.suspend()
    _ = clock.schedule(after: Self.pause, on: queue) { self.accepting.resume() }
  }

  private func greet(_ socket: Int32) {
    nextReader += 1
    let number = nextReader
    let reader = RunReader(socket, on: queue, server: self) { [weak self] in
      self?.readers[number] = nil
      self?.checkReaders()
    }
    guard let peer = PeerIdentity(of: socket), peer.user == geteuid() else {
      return reader.refuse("this run belongs to another user, who alone can attach to it")
    }
    guard readers.count < Self.readerLimit else {
      return reader.refuse("\(Self.readerLimit) programs are attached already")
    }
    readers[number] = reader
    var greeting = greeting
    describe(&greeting)
    reader.greet(greeting)
  }

  func snapshot(for reader: RunReader) -> Run? {
    if end != nil {
      guard !reader.isFollowing else { return nil }
      for other in readers.values where other.isFollowing { other.close() }
    }
    guard subscription == nil else { return feed.snapshot }
    let subscription = feed.subscribe(on: queue) { [weak self] events in self?.receive(events) }
    self.subscription = subscription
    writer = EventWriter(after: subscription.snapshot)
    if greeting.isQueue, subscription.snapshot.summary != nil { end = subscription.snapshot.nextSeq }
    return subscription.snapshot
  }

  var jobs: Int { writer.jobs }

  private func receive(_ events: [JobEvent]) {
    guard let first = events.first else { return }
    var lines: [UInt8] = []
    var starts: [Int] = []
    starts.reserveCapacity(events.count)
    for event in events {
      starts.append(lines.count)
      writer.append(event, to: &lines)
    }
    for reader in readers.values where reader.nextSeq < first.seq + events.count {
      let start = max(0, reader.nextSeq - first.seq)
      reader.send(lines[starts[start]...], upTo: first.seq + events.count)
    }
    if greeting.isQueue, case .runFinished? = events.last?.fact { end = first.seq + events.count }
    checkFinished()
  }

  /// Ends the subscription when the last reader has left.
  private func checkReaders() {
    if !readers.values.contains(where: \.isFollowing) { (subscription, end) = (nil, nil) }
    checkFinished()
  }

  func checkFinished() {
    if !readers.isEmpty, let end = end ?? isFinishing.map({ _ in feed.snapshot.nextSeq }) {
      for reader in readers.values where reader.hasAll(upTo: end) { reader.close() }
    }
    if let done = isFinishing, readers.isEmpty {
      isFinishing = nil
      done.signal()
    }
  }
}
