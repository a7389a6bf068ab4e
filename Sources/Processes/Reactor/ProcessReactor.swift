import CProcess
import Foundation
import Operations
import Synchronization

/// The thread that waits for the ends of all processes, reads their output and ends them in order.
final class ProcessReactor: @unchecked Sendable {
  // Safe: only the reactor's thread uses the `private var`s; commands come through a lock.

  /// A request from another thread.
  enum Command: Sendable {
    case stop
    case kill
    case pause
    case resume
    case resize(TerminalSize)
    case consumed(ProcessStream, chunk: UInt64)
    /// The poller could not watch the child.
    case poll
  }

  /// The source of a poller event; the low bits of its token, below the child's number.
  private enum Source: UInt64 {
    case leader
    case stdout
    case stderr
    case survivor
  }

  /// How long descendants may write after the leader's end before they get the stop signal.
  private static let drainTime: UInt64 = 200_000_000
  /// The longest grace that they get after that.
  private static let leftoverGrace: UInt64 = 1_000_000_000
  private static let killInterval: UInt64 = 250_000_000
  /// How often SIGKILL is sent before a process is abandoned: on a loaded machine it may need seconds to end.
  private static let maximumKills = 12
  private static let pollInterval: UInt64 = 5_000_000
  /// The interval of the checks for stopped programs.
  ///
  /// A pidfd does not report a stop, and a thread that waits for it is also woken by each end.
  private static let stopInterval: UInt64 = 2_000_000_000
  /// The maximum number of consecutive doubtful scans: an unrelated process may hang in an exec.
  private static let maximumDoubts = 200
  /// The token of the guardian: the children's numbers begin at 1.
  private static let guardianToken: UInt64 = 0
  private static let shortestReapInterval: UInt64 = 1_000_000_000
  private static let longestReapInterval: UInt64 = 64_000_000_000
  /// How often a guardian that was killed is replaced.
  private static let maximumReplacements = 16
  /// Below this age of a launch, the process numbers can't have wrapped around since its leader's.
  private static let youth: UInt64 = 1_000_000_000

  private let registry: ProcessRegistry
  private let processScan: ProcessScan
  private let poller = Poller()
  private let commands = Lock<[(number: UInt64, command: Command)]>([])
  private let threadID = Atomic<UInt>(0)
  /// Whether the leaders are checked for stop signals; off while none executes, so that the thread sleeps.
  private let checksStops = Atomic(false)

  private var deadlines: [UInt64: UInt64] = [:]
  /// Children to check: their leader has ended, and something has changed since the last check.
  private var changed: [ChildProcess] = []
  /// Streams that had more bytes than one turn reads.
  private var unread: [(child: ChildProcess, stream: ProcessStream)] = []
  /// Children that the poller does not watch, and the times of their next checks.
  private var polled: [(child: ChildProcess, at: UInt64)] = []
  /// The stream whose chunk is being delivered.
  private var reading: (number: UInt64, stream: ProcessStream)?
  /// The scan of all processes in this turn.
  private var fullScan: ProcessScan.Result?
  private var orphansReapedAt: UInt64 = 0
  private var reapInterval = ProcessReactor.shortestReapInterval
  private var replacements = 0
  private var nextStopCheck: UInt64 = 0
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
  /// The number of chunks that have been read and not consumed.
  private var heldChunks = 0
  /// The approximate size of all chunks together: the output that hundreds of processes write at once is handled
  /// quickly.
  private static let chunkTotal = 512 << 10
  private static let smallestChunk = 2 << 10

  init(registry: ProcessRegistry, processScan: ProcessScan) {
    self.registry = registry
    self.processScan = processScan
    let thread = Thread { self.run() }
    thread.name = "processes"
    thread.start()
  }

  static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  // From any thread

  /// Begins to watch a registered child.
  func watch(_ child: ChildProcess) {
    let token = child.number << 2
    // The leader last: after its end, the streams' descriptors are closed and their numbers reused.
    let output = child.launch.terminal == nil ? Poller.Interest.output : .terminal
    let isWatched =
      poller.watch(child.stdout.descriptor, for: output, token: token | Source.stdout.rawValue)
      && (child.launch.hasOneStream
        || poller.watch(child.stderr.descriptor, for: .output, token: token | Source.stderr.rawValue))
      && poller.watch(child.leaderDescriptor, for: .end, token: token | Source.leader.rawValue)
    if !isWatched { send(.poll, to: child.number) }
    if !checksStops.load(ordering: .sequentiallyConsistent) { poller.wake() }
  }

  /// Has a guardian that is killed replaced; `lifeline` ends with the guardian, and is negative if there is none.
  func watchGuardian(_ lifeline: Int32) {
    if lifeline >= 0 { _ = poller.watch(lifeline, for: .output, token: Self.guardianToken) }
  }

  func send(_ command: Command, to number: UInt64) {
    let mustWake = commands.withLock { commands in
      commands.append((number, command))
      return commands.count == 1
    }
    if mustWake { poller.wake() }
  }

  private func consumed(_ stream: ProcessStream, chunk: UInt64, of number: UInt64) {
    guard threadID.load(ordering: .relaxed) == Self.currentThread else {
      return send(.consumed(stream, chunk: chunk), to: number)
    }
    guard let child = registry[number], release(stream, chunk: chunk, of: child) else { return }
    if let reading, reading == (number, stream) { return }
    unread.append((child, stream))
  }

  private static var currentThread: UInt { UInt(bitPattern: ObjectIdentifier(Thread.current)) }

  // On the reactor's thread

  private func run() {
    threadID.store(Self.currentThread, ordering: .relaxed)
    while true {
      poller.wait(atMost: timeout(), handle)
      for (number, command) in commands.withLock({ exchange(&$0, with: []) }) {
        if let child = registry[number] { handle(command, for: child) }
      }
      if !deadlines.isEmpty { expire() }
      readUnread()
      checkPolled()
      checkStops()
      while let child = changed.popLast() { checkEnd(of: child) }
      fullScan = nil
      reapOrphans()
    }
  }

  /// The timeout in milliseconds, rounded up; negative for no limit.
  private func timeout() -> Int64 {
    if !unread.isEmpty || !changed.isEmpty { return 0 }
    let check = checksStops.load(ordering: .relaxed) ? nextStopCheck : nil
    let times = [deadlines.values.min(), polled.lazy.map(\.at).min(), check]
    guard let next = times.compactMap(\.self).min() else { return -1 }
    let now = Self.now
    return next <= now ? 0 : Int64((next - now + 999_999) / 1_000_000)
  }

  private func handle(_ token: UInt64) {
    if token == Self.guardianToken { return replaceGuardian() }
    guard let child = registry[token >> 2], let source = Source(rawValue: token & 3) else { return }
    switch source {
    case .leader: checkLeader(of: child)
    case .stdout:
      child.stdout.endInput(alsoKeys: false)
      read(.stdout, of: child)
    case .stderr: read(.stderr, of: child)
    case .survivor: if child.exit != nil { changed.append(child) }
    }
  }

  private func handle(_ command: Command, for child: ChildProcess) {
    switch command {
    case .stop:
      if child.phase == .running || child.phase == .draining { stop(child, grace: child.launch.grace.nanoseconds) }
    case .kill: if child.phase != .stopping || !child.isEndingRemotes { kill(child) }
    case .pause:
      guard child.phase == .running else { break }
      child.isPaused = true
      signal(child, SIGSTOP)
    case .resume:
      child.isPaused = false
      signal(child, SIGCONT)
    case .resize(let size): child.stdout.resize(to: size)
    case .consumed(let stream, let chunk): if release(stream, chunk: chunk, of: child) { read(stream, of: child) }
    case .poll: poll(child)
    }
  }

  private func replaceGuardian() {
    guard replacements < Self.maximumReplacements else { return }
    replacements += 1
    watchGuardian(cprocess_guardian_replace())
  }

  private func checkLeader(of child: ChildProcess) {
    guard child.exit == nil, let exit = ChildStatus.exit(of: child.pid) else { return }
    child.exit = exit
    child.stdout.closeWriter()
    child.stderr.closeWriter()
    changed.append(child)
  }

  // Output

  private func read(_ stream: ProcessStream, of child: ChildProcess) {
    var budget = 16
    while child[stream].isOpen, !child[stream].isHeld {
      guard budget > 0 else { return unread.append((child, stream)) }
      budget -= 1
      let size = min(buffer.count, max(Self.smallestChunk, Self.chunkTotal / (heldChunks + 1)))
      switch child[stream].read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<size])) {
      case .chunk(let bytes):
        heldChunks += 1
        let (number, chunk) = (child.number, child[stream].chunks)
        reading = (number, stream)
        child.delegate.childWrote(bytes, to: stream) { [self] in consumed(stream, chunk: chunk, of: number) }
        reading = nil
      case .empty: return
      case .end: if child.exit != nil { changed.append(child) }
      }
    }
  }

  private func release(_ stream: ProcessStream, chunk: UInt64, of child: ChildProcess) -> Bool {
    guard child[stream].release(chunk: chunk) else { return false }
    heldChunks -= 1
    return true
  }

  private func readUnread() {
    let streams = unread
    unread.removeAll(keepingCapacity: true)
    for (child, stream) in streams { read(stream, of: child) }
  }

  // The end

  /// Finishes a child whose leader has ended if no process is left, and proceeds with its end otherwise.
  private func checkEnd(of child: ChildProcess) {
    guard child.phase != .over, let exit = child.exit else { return }
    read(.stdout, of: child)
    read(.stderr, of: child)
    let result = scanForSurvivors(of: child)
    let survivors = members(of: child, in: result)
    child.closeSurvivorDescriptors()
    guard survivors.isEmpty else {
      child.doubts = 0
      switch child.phase {
      case .running, .closing:
        if child.phase == .running { hangUp(survivors, of: child) }
        enter(.draining, child, for: Self.drainTime)
      case .stopping: stop(survivors, of: child)
      case .killing: for survivor in survivors { survivor.signal(SIGKILL) }
      case .draining, .over: break
      }
      return watch(survivors, of: child)
    }
    if result.isDoubtful, child.doubts < Self.maximumDoubts {
      child.doubts += 1
      return poll(child)
    }
    if !child.hasOutput { return finish(child, exit, mayLeaveProcesses: result.isDoubtful) }
    // Also while a chunk is being handled: after it, an open but empty pipe reports nothing.
    if child.phase != .closing { enter(.closing, child, for: Self.drainTime) }
  }

  private func finish(_ child: ChildProcess, _ exit: ProcessExit, mayLeaveProcesses: Bool) {
    child.phase = .over
    heldChunks -= ProcessStream.allCases.count { child[$0].isHeld }
    deadlines[child.number] = nil
    child.closeOutput()
    child.closeSurvivorDescriptors()
    if child.leaderDescriptor >= 0 { _ = close(child.leaderDescriptor) }
    registry.remove(child, mayLeaveProcesses: mayLeaveProcesses)
    processScan.reapOrphans()
    child.delegate.childEnded(exit)
  }

  private func enter(_ phase: ChildProcess.Phase, _ child: ChildProcess, for time: UInt64) {
    child.phase = phase
    deadlines[child.number] = Self.now + time
  }

  private func expire() {
    let now = Self.now
    for (number, deadline) in deadlines where deadline <= now {
      deadlines[number] = nil
      guard let child = registry[number] else { continue }
      switch child.phase {
      case .running, .over: break
      // The consumer of the output is late, not the processes.
      case .draining where child.isHeld: enter(.draining, child, for: Self.drainTime)
      case .draining: stop(child, grace: min(child.launch.grace.nanoseconds, Self.leftoverGrace))
      case .stopping: kill(child)
      // A process of another user, or one that hangs in the kernel; the poller reports the leader's end.
      case .killing(times: Self.maximumKills...):
        if let exit = child.exit { finish(child, exit, mayLeaveProcesses: true) }
      case .killing: kill(child)
      case .closing where child.isHeld || unread.contains { $0.child === child }:
        enter(.closing, child, for: Self.drainTime)
      case .closing:
        child.closeOutput()
        changed.append(child)
      }
    }
  }

  private func stop(_ child: ChildProcess, grace: UInt64) {
    child.scanInterval = Self.pollInterval
    child.stoppedSessions = [child.pid]
    child.stoppedSessions.formUnion(members(of: child, in: scanAll()).map(\.session))
    // A paused process receives the signal only when it continues.
    signal(child, child.launch.stopSignal)
    signal(child, SIGCONT)
    enter(.stopping, child, for: grace)
  }

  /// Notifies survivors that the terminal is gone, as a shell would; the kernel has notified the leader's group.
  private func hangUp(_ survivors: [ProcessScan.Member], of child: ChildProcess) {
    guard child.launch.terminal != nil else { return }
    for survivor in survivors where survivor.session == child.pid && survivor.group != child.pid {
      survivor.signal(SIGHUP)
    }
  }

  /// Sends the stop signal to survivors in sessions that have not received it.
  private func stop(_ survivors: [ProcessScan.Member], of child: ChildProcess) {
    for survivor in survivors where !child.stoppedSessions.contains(survivor.session) {
      survivor.signal(child.launch.stopSignal)
      survivor.signal(SIGCONT)
    }
    child.stoppedSessions.formUnion(survivors.map(\.session))
    // A process may still leave its session, and nothing reports that.
    poll(child, after: child.scanInterval)
    child.scanInterval = min(child.scanInterval * 2, 1_000_000_000)
  }

  private func kill(_ child: ChildProcess) {
    if let grace = child.launch.remoteGrace, !child.isEndingRemotes {
      child.isEndingRemotes = true
      child.scanInterval = Self.pollInterval
      signal(child, SIGTERM)
      signal(child, SIGCONT)
      return enter(.stopping, child, for: grace.nanoseconds)
    }
    signal(child, SIGKILL)
    let times = if case .killing(let times) = child.phase { times + 1 } else { 1 }
    enter(.killing(times: times), child, for: Self.killInterval)
  }

  /// Signals the group, and the processes that have left it.
  private func signal(_ child: ChildProcess, _ signal: Int32) {
    child.signalGroup(signal)
    for member in members(of: child, in: scanAll()) where member.group != child.pid { member.signal(signal) }
  }

  private func scanForSurvivors(of child: ChildProcess) -> ProcessScan.Result {
    let isYoung = Self.now - child.launchedAt < Self.youth
    return (isYoung ? processScan.scanStarted(after: child.pid) : nil) ?? scanAll()
  }

  private func members(of child: ChildProcess, in result: ProcessScan.Result) -> [ProcessScan.Member] {
    // An orphan without a mark may descend from any older leader, and from no younger one: it is ended with the last of them.
    let orphans = result.orphans.filter { orphan in
      orphan.startTime >= child.startTime
        && !registry.hasJob(besides: child, before: orphan.pid, startedAt: orphan.startTime)
    }
    return (result.members[child.number] ?? []) + orphans
  }

  private func scanAll() -> ProcessScan.Result {
    if let fullScan { return fullScan }
    let result = processScan.scanAll()
    fullScan = result
    return result
  }

  private func watch(_ survivors: [ProcessScan.Member], of child: ChildProcess) {
    for survivor in survivors.prefix(64) {
      let descriptor = cprocess_open(survivor.pid)
      guard descriptor >= 0 else { continue }
      child.survivorDescriptors.append(descriptor)
      _ = poller.watch(descriptor, for: .end, token: child.number << 2 | Source.survivor.rawValue)
    }
    if child.survivorDescriptors.isEmpty { poll(child) }
  }

  private func poll(_ child: ChildProcess, after interval: UInt64 = pollInterval) {
    polled.append((child, Self.now + interval))
  }

  private func checkPolled() {
    guard !polled.isEmpty else { return }
    let now = Self.now
    let due = polled.filter { $0.at <= now }
    polled.removeAll { $0.at <= now }
    for (child, _) in due where child.phase != .over {
      checkLeader(of: child)
      guard child.exit == nil else {
        changed.append(child)
        continue
      }
      for stream in ProcessStream.allCases { read(stream, of: child) }
      poll(child)
    }
  }

  static func stopCheck(after now: UInt64) -> UInt64 { now + stopInterval }

  private func checkStops() {
    let now = Self.now
    if checksStops.load(ordering: .relaxed) {
      guard now >= nextStopCheck else { return }
      for child in registry.children where child.mayStop {
        if let signal = ChildStatus.stop(of: child.pid) { child.delegate.childStopped(by: signal == 0 ? nil : signal) }
        // The poller does not report that a program has discarded its input, or reads keys.
        child.stdout.endInput(alsoKeys: true)
      }
    }
    // Turned off before the check: `watch` wakes the thread for a child that is added later.
    checksStops.store(false, ordering: .sequentiallyConsistent)
    guard registry.children.contains(where: \.mayStop) else { return }
    nextStopCheck = Self.stopCheck(after: now)
    checksStops.store(true, ordering: .sequentiallyConsistent)
  }

  /// Reaps orphans at most once a second and without a timer: ended orphans cost nothing but their numbers.
  private func reapOrphans() {
    let now = Self.now
    guard now - orphansReapedAt > reapInterval else { return }
    orphansReapedAt = now
    reapInterval = Self.reapInterval(after: reapInterval, isInVain: processScan.reapAllOrphans())
  }

  /// The interval after a pass; an ended child that other code does not reap may stay until the program ends.
  static func reapInterval(after interval: UInt64, isInVain: Bool) -> UInt64 {
    isInVain ? min(interval * 2, longestReapInterval) : shortestReapInterval
  }
}

extension Duration {
  /// The duration in nanoseconds, at most 1e9 seconds; zero if it is negative.
  var nanoseconds: UInt64 { UInt64(clamping: min(self, .seconds(1_000_000_000)) / .nanoseconds(1)) }
}
