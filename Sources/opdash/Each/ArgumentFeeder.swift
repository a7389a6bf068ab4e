import Basics
import Dispatch
import Foundation
import JobModel

/// Reads the arguments of `opdash each` from a descriptor and adds a job for each to a run that is going on.
///
/// It reads on a thread of its own, and no further than `ahead` jobs that have not started: the list may be endless. Any
/// thread may call it.
final class ArgumentFeeder: @unchecked Sendable {
  // Safe: `splitter` and `jobs` are touched only on `queue`.
  private struct State {
    /// The jobs that were added and have not left the waiting ones.
    var waiting = 0
    var isStopped = false
    /// Those that have left, beside all before `first`.
    var left: Set<JobID> = []
    var first = 0
    var subscription: JobSubscription?
  }

  private let descriptor: Int32
  private var splitter: ArgumentSplitter
  private var jobs: EachJobs
  private let perJob: Int
  private let ahead: Int
  private let add: @Sendable ([Job]) -> Void
  private let end: @Sendable (_ problem: String?) -> Void
  private let state = Lock(State())
  private let room = DispatchSemaphore(value: 0)
  private let queue = DispatchQueue(label: "opdash.arguments", qos: .userInitiated)

  /// `add` and `end` are called on the thread that reads; `end` once, after the last job, with the reason if the descriptor
  /// can't be read.
  init(
    _ descriptor: Int32, _ request: EachRequest, jobs: EachJobs, ahead: Int = 4096,
    add: @escaping @Sendable ([Job]) -> Void, end: @escaping @Sendable (_ problem: String?) -> Void
  ) {
    self.descriptor = descriptor
    splitter = request.splitter
    self.jobs = jobs
    perJob = request.perJob
    self.ahead = ahead
    self.add = add
    self.end = end
  }

  func start() {
    queue.async { [self] in
      let problem = read()
      state.withLock { $0.subscription = nil }
      end(problem)
    }
  }

  /// Adds nothing more; a read that is blocked goes on until something comes.
  func stop() {
    state.withLock { $0.isStopped = true }
    room.signal()
  }

  /// Follows which of the added jobs have started, and stops with the run; to be called before `start`.
  func watch(_ feed: any JobFeed) {
    let subscription = feed.subscribe(on: DispatchQueue(label: "opdash.arguments.room")) { [weak self] events in
      self?.receive(events)
    }
    state.withLock { $0.subscription = subscription }
  }

  private func receive(_ events: [JobEvent]) {
    for event in events {
      switch event.fact {
      case .jobState(let id, let state, _, _):
        if state.isActive || state.isTerminal { leave(id) }
      case .stopRequested, .runFinished: stop()
      default: break
      }
    }
  }

  private func leave(_ id: JobID) {
    state.withLock { state in
      guard id.index >= state.first, state.left.insert(id).inserted else { return }
      state.waiting -= 1
      while state.left.remove(JobID(state.first)) != nil { state.first += 1 }
    }
    room.signal()
  }

  // MARK: On the queue

  /// Returns the reason why the descriptor can't be read, if so.
  private func read() -> String? {
    var group: [[UInt8]] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !state.withLock(\.isStopped) {
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return "can't read standard input: \(String(cString: strerror(errno)))" }
      let arguments = count > 0 ? splitter.feed(buffer[..<count]) : [splitter.finish()].compactMap(\.self)
      add(arguments, to: &group)
      guard count > 0 else { break }
    }
    if !group.isEmpty { add([group]) }
    return nil
  }

  /// Adds the jobs whose arguments are complete; the other arguments stay in the group.
  private func add(_ arguments: [[UInt8]], to group: inout [[UInt8]]) {
    var groups: [[[UInt8]]] = []
    for argument in arguments {
      group.append(argument)
      guard group.count == perJob else { continue }
      groups.append(group)
      group = []
    }
    add(groups)
  }

  private func add(_ groups: [[[UInt8]]]) {
    var rest = groups[...]
    while !rest.isEmpty {
      let free = state.withLock { state -> Int in
        guard !state.isStopped else { return 0 }
        let free = max(0, min(rest.count, ahead - state.waiting))
        state.waiting += free
        return free
      }
      if state.withLock(\.isStopped) { return }
      if free == 0 {
        room.wait()
      } else {
        add(rest.prefix(free).map { jobs.next($0).job })
        rest = rest.dropFirst(free)
      }
    }
  }
}
