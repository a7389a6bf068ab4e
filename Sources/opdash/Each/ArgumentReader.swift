import Basics
import Dispatch
import Foundation
import JobModel

/// Reads the arguments of `opdash each` from a descriptor and adds a job for each to the current run.
///
/// Reads on a thread of its own, and no further than `ahead` jobs that have not started: the list may be endless. Any
/// thread may call it.
final class ArgumentReader: @unchecked Sendable {
  // Safe: `splitter` and `jobs` are touched only on `queue`.
  private struct State {
    /// The added jobs that still wait.
    var waiting = 0
    var isStopped = false
    /// Whether `end` was called.
    var hasEnded = false
    /// The jobs that no longer wait, besides all before `first`.
    var left: Set<JobID> = []
    var first = 0
    var subscription: JobSubscription?
  }

  private let descriptor: Int32
  private var splitter: ArgumentSplitter
  private var jobs: EachJobs
  private let endsWithFailure: Bool
  private let ahead: Int
  private let add: @Sendable ([Job]) -> Void
  private let end: @Sendable () -> Void
  private let state = Lock(State())
  private let room = DispatchSemaphore(value: 0)
  private let queue = DispatchQueue(label: "opdash.arguments", qos: .userInitiated)

  /// `add` is called on the thread that reads, `end` once: after the last job, or by `stop()`, whatever is added then.
  ///
  /// A descriptor that can't be read any more adds a job that fails with the reason. `endsWithFailure` if nothing is
  /// added once a job of the run has failed.
  init(
    _ descriptor: Int32, _ jobs: EachJobs, ahead: Int = 4096, endsWithFailure: Bool = false,
    add: @escaping @Sendable ([Job]) -> Void, end: @escaping @Sendable () -> Void
  ) {
    self.descriptor = descriptor
    splitter = jobs.request.splitter
    self.jobs = jobs
    self.endsWithFailure = endsWithFailure
    self.ahead = ahead
    self.add = add
    self.end = end
  }

  func start() {
    queue.async { [self] in
      read()
      endOnce()
    }
  }

  /// Adds nothing more, though a blocked read lasts until input comes.
  func stop() {
    state.withLock { $0.isStopped = true }
    room.signal()
    endOnce()
  }

  private func endOnce() {
    let (isFirst, subscription) = state.withLock { (!exchange(&$0.hasEnded, with: true), $0.subscription.take()) }
    if isFirst { end() }
    withExtendedLifetime(subscription) {}
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
      case .jobState(_, .failed(_, allowed: false), _, _) where endsWithFailure: stop()
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

  private func read() {
    var group: [ListArgument] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !state.withLock(\.isStopped) {
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        // Another program that has the same pipe open may have asked for it.
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = Foundation.poll(&poll, 1, -1)
        continue
      }
      let problem = count < 0 ? errno : 0
      let arguments = count > 0 ? splitter.feed(buffer[..<count]) : [splitter.finish()].compactMap(\.self)
      add(arguments, to: &group)
      guard count <= 0 else { continue }
      if !group.isEmpty { add([group]) }
      if problem == 0 { break }
      add([jobs.failing("standard input", "can't read standard input any more: \(String(cString: strerror(problem)))")])
      break
    }
  }

  /// Adds the jobs whose arguments are complete; the other arguments stay in the group.
  private func add(_ arguments: [ListArgument], to group: inout [ListArgument]) {
    var groups: [[ListArgument]] = []
    for argument in arguments {
      group.append(argument)
      guard group.count == jobs.request.perJob else { continue }
      groups.append(group)
      group = []
    }
    add(groups)
  }

  private func add(_ groups: [[ListArgument]]) {
    var rest = groups[...]
    while !rest.isEmpty {
      let free = state.withLock { state -> Int? in
        guard !state.isStopped else { return nil }
        let free = max(0, min(rest.count, ahead - state.waiting))
        state.waiting += free
        return free
      }
      guard let free else { return }
      if free == 0 {
        room.wait()
      } else {
        let made = rest.prefix(free).map { group in
          jobs.next(of: group).job
        }
        add(made)
        rest = rest.dropFirst(free)
      }
    }
  }
}
