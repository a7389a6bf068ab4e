import CProcess
import Foundation
import Operations
import Synchronization

/// The one thread that learns of every end, reads all output and takes jobs down in order.
final class ProcessReactor: @unchecked Sendable {
  // Safe: what is `private var` is touched on the reactor's thread alone; commands come through a lock.

  /// What other threads ask for.
  enum Command: Sendable {
    case stop
    case kill
    case pause
    case resume
    case consumed(ProcessStream, chunk: UInt64)
    /// The system could not promise to tell of the child's end.
    case poll
  }

  /// What the poller tells about a child; the low bits of its token.
  private enum Source: UInt64 {
    case leader
    case stdout
    case stderr
    case survivor
  }

  /// How long what a leader left may go on writing before it is asked to end.
  private static let drainTime: UInt64 = 200_000_000
  /// How long it may take to end then.
  private static let leftoverGrace: UInt64 = 1_000_000_000
  private static let killInterval: UInt64 = 250_000_000
  private static let pollInterval: UInt64 = 5_000_000
  /// How often in a row a look may be in doubt: a stranger may hang between two programs for ever.
  private static let maximumDoubts = 200
  /// A younger job's processes are looked for among the numbers after its leader's: they can't have begun again since.
  private static let youth: UInt64 = 1_000_000_000

  private let registry: ProcessRegistry
  private let census: ProcessCensus
  private let poller: Int32
  private let waker: Int32
  private let commands = Lock<[(number: UInt64, command: Command)]>([])
  private let threadID = Atomic<UInt>(0)

  private var deadlines: [UInt64: UInt64] = [:]
  /// Children whose leader has ended and of whom something may have changed.
  private var unsettled: [ChildProcess] = []
  /// Streams that have more to give than one turn takes from them.
  private var unread: [(child: ChildProcess, stream: ProcessStream)] = []
  /// Children of whom nothing tells, and when each is looked at again.
  private var polled: [(child: ChildProcess, at: UInt64)] = []
  /// The stream whose chunk is being handed out.
  private var reading: (number: UInt64, stream: ProcessStream)?
  /// What a look at all processes gave in this turn.
  private var everyone: ProcessCensus.Result?
  private var sweptAt: UInt64 = 0
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

  init(registry: ProcessRegistry, census: ProcessCensus) {
    self.registry = registry
    self.census = census
    poller = cprocess_poller_create()
    precondition(poller >= 0, "no poller: \(ProcessError.text(-poller))")
    waker = cprocess_poller_make_waker(poller, UInt64.max)
    precondition(waker >= 0, "no waker: \(ProcessError.text(-waker))")
    let thread = Thread { self.run() }
    thread.name = "processes"
    thread.start()
  }

  static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

  // From any thread

  /// Begins to listen to a child that is registered.
  func watch(_ child: ChildProcess) {
    let token = child.number << 2
    // The leader last: its end closes the streams' descriptors, whose numbers then may mean something else.
    let watched =
      cprocess_poller_watch_reader(poller, child.stdout.descriptor, token | Source.stdout.rawValue) == 0
      && cprocess_poller_watch_reader(poller, child.stderr.descriptor, token | Source.stderr.rawValue) == 0
      && cprocess_poller_watch_process(poller, child.pid, child.leaderDescriptor, token | Source.leader.rawValue) == 0
    if !watched { send(.poll, to: child.number) }
  }

  func send(_ command: Command, to number: UInt64) {
    let mustWake = commands.withLock { commands in
      commands.append((number, command))
      return commands.count == 1
    }
    if mustWake { cprocess_poller_wake(waker) }
  }

  private func consumed(_ stream: ProcessStream, chunk: UInt64, of number: UInt64) {
    guard threadID.load(ordering: .relaxed) == Self.currentThread else {
      return send(.consumed(stream, chunk: chunk), to: number)
    }
    guard let child = registry[number], child[stream].release(chunk: chunk) else { return }
    if let reading, reading == (number, stream) { return }
    unread.append((child, stream))
  }

  private static var currentThread: UInt { UInt(bitPattern: ObjectIdentifier(Thread.current)) }

  // On the reactor's thread

  private func run() {
    threadID.store(Self.currentThread, ordering: .relaxed)
    var tokens = [UInt64](repeating: 0, count: 64)
    while true {
      let count = cprocess_poller_wait(poller, &tokens, 64, timeout())
      for token in tokens[..<Int(count)] where token != UInt64.max { handle(token) }
      for (number, command) in takeCommands() {
        if let child = registry[number] { handle(command, for: child) }
      }
      if !deadlines.isEmpty { expire() }
      readOn()
      lookAgain()
      while let child = unsettled.popLast() { settle(child) }
      everyone = nil
      sweep()
    }
  }

  private func takeCommands() -> [(number: UInt64, command: Command)] {
    commands.withLock { commands in
      defer { commands.removeAll() }
      return commands
    }
  }

  /// In milliseconds, rounded up; negative for ever.
  private func timeout() -> Int64 {
    if !unread.isEmpty || !unsettled.isEmpty { return 0 }
    guard let next = [deadlines.values.min(), polled.lazy.map(\.at).min()].compactMap({ $0 }).min() else { return -1 }
    let now = Self.now
    return next <= now ? 0 : Int64((next - now + 999_999) / 1_000_000)
  }

  private func handle(_ token: UInt64) {
    guard let child = registry[token >> 2], let source = Source(rawValue: token & 3) else { return }
    switch source {
    case .leader: lookAtLeader(of: child)
    case .stdout: read(.stdout, of: child)
    case .stderr: read(.stderr, of: child)
    case .survivor: if child.exit != nil { unsettled.append(child) }
    }
  }

  private func handle(_ command: Command, for child: ChildProcess) {
    switch command {
    case .stop:
      if child.phase == .running || child.phase == .draining { stop(child, grace: child.launch.grace.nanoseconds) }
    case .kill: kill(child)
    case .pause: if child.phase == .running { signal(child, SIGSTOP) }
    case .resume: signal(child, SIGCONT)
    case .consumed(let stream, let chunk): if child[stream].release(chunk: chunk) { read(stream, of: child) }
    case .poll: poll(child)
    }
  }

  private func lookAtLeader(of child: ChildProcess) {
    guard child.exit == nil else { return }
    var code: Int32 = 0
    switch cprocess_peek(child.pid, &code) {
    case cprocess_exited: child.exit = .success(.exited(code))
    case cprocess_signalled: child.exit = .success(.signalled(code))
    // Other code of this program has reaped our child and knows its status; it is gone all the same.
    case cprocess_unknown: child.exit = .success(.exited(-1))
    default: return
    }
    if let failure = child.launchFailure() { child.exit = .failure(failure) }
    child.closeWriters()
    unsettled.append(child)
  }

  // Output

  private func read(_ stream: ProcessStream, of child: ChildProcess) {
    var budget = 16
    while child[stream].isOpen, !child[stream].isHeld {
      guard budget > 0 else { return unread.append((child, stream)) }
      budget -= 1
      switch child[stream].read(into: buffer) {
      case .chunk(let bytes):
        let (number, chunk) = (child.number, child[stream].chunks)
        reading = (number, stream)
        child.output(stream, bytes) { [self] in consumed(stream, chunk: chunk, of: number) }
        reading = nil
      case .empty: return
      case .end: if child.exit != nil { unsettled.append(child) }
      }
    }
  }

  private func readOn() {
    let streams = unread
    unread.removeAll(keepingCapacity: true)
    for (child, stream) in streams { read(stream, of: child) }
  }

  // The end

  /// Ends a job of which nobody is left; goes on with the end of the others.
  private func settle(_ child: ChildProcess) {
    guard child.phase != .over, let exit = child.exit else { return }
    read(.stdout, of: child)
    read(.stderr, of: child)
    let look = lookForSurvivors(of: child)
    let survivors = members(of: child, in: look)
    child.closeSurvivorDescriptors()
    guard survivors.isEmpty else {
      child.doubts = 0
      switch child.phase {
      case .running, .lettingGo: enter(.draining, child, for: Self.drainTime)
      case .stopping: ask(survivors, of: child)
      case .killing: for survivor in survivors { survivor.signal(SIGKILL) }
      case .draining, .over: break
      }
      return watch(survivors, of: child)
    }
    if look.isDoubtful, child.doubts < Self.maximumDoubts {
      child.doubts += 1
      return poll(child)
    }
    if !child.hasOutput { return finish(child, exit) }
    if !child.isHeld, child.phase != .lettingGo { enter(.lettingGo, child, for: Self.drainTime) }
  }

  private func finish(_ child: ChildProcess, _ exit: Result<ProcessExit, ProcessError>) {
    child.phase = .over
    deadlines[child.number] = nil
    child.closeOutput()
    child.closeSurvivorDescriptors()
    if child.leaderDescriptor >= 0 { _ = close(child.leaderDescriptor) }
    registry.remove(child)
    census.reapOrphans()
    child.ended(exit)
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
      // Whoever reads the output is late, not the processes.
      case .draining where child.isHeld: enter(.draining, child, for: Self.drainTime)
      case .draining: stop(child, grace: min(child.launch.grace.nanoseconds, Self.leftoverGrace))
      case .stopping: kill(child)
      // It can't be killed: it belongs to another user, or hangs in the kernel. The leader's end we are told.
      case .killing(times: 4...):
        if let exit = child.exit { finish(child, exit) }
      case .killing: kill(child)
      case .lettingGo:
        child.closeOutput()
        unsettled.append(child)
      }
    }
  }

  private func stop(_ child: ChildProcess, grace: UInt64) {
    child.lookInterval = Self.pollInterval
    child.askedSessions = [child.pid]
    child.askedSessions.formUnion(members(of: child, in: lookAtEveryone()).map(\.session))
    // What is stopped gets the signal only when it goes on.
    signal(child, child.launch.stopSignal)
    signal(child, SIGCONT)
    enter(.stopping, child, for: grace)
  }

  /// Sends the stop signal to those that got away while the others were sent it.
  private func ask(_ survivors: [ProcessCensus.Member], of child: ChildProcess) {
    for survivor in survivors where !child.askedSessions.contains(survivor.session) {
      survivor.signal(child.launch.stopSignal)
      survivor.signal(SIGCONT)
    }
    child.askedSessions.formUnion(survivors.map(\.session))
    // One that has yet to leave its session is taken for what cleans up; nothing tells when it leaves.
    poll(child, after: child.lookInterval)
    child.lookInterval = min(child.lookInterval * 2, 1_000_000_000)
  }

  private func kill(_ child: ChildProcess) {
    signal(child, SIGKILL)
    if case .killing(let times) = child.phase {
      enter(.killing(times: times + 1), child, for: Self.killInterval)
    } else {
      enter(.killing(times: 1), child, for: Self.killInterval)
    }
  }

  /// Signals the group, and the job's processes that have left it.
  private func signal(_ child: ChildProcess, _ signal: Int32) {
    child.signalGroup(signal)
    for member in members(of: child, in: lookAtEveryone()) where member.group != child.pid { member.signal(signal) }
  }

  private func lookForSurvivors(of child: ChildProcess) -> ProcessCensus.Result {
    let isYoung = Self.now - child.launchedAt < Self.youth
    return (isYoung ? census.takeStarted(after: child.pid) : nil) ?? lookAtEveryone()
  }

  private func members(of child: ChildProcess, in result: ProcessCensus.Result) -> [ProcessCensus.Member] {
    // An orphan without a mark may be of any job that was there before it: it ends with the last of them.
    let orphans = result.orphans.filter { !registry.hasJob(besides: child, before: $0.pid) }
    return (result.members[child.number] ?? []) + orphans
  }

  private func lookAtEveryone() -> ProcessCensus.Result {
    if let everyone { return everyone }
    let result = census.takeAll()
    everyone = result
    return result
  }

  private func watch(_ survivors: [ProcessCensus.Member], of child: ChildProcess) {
    for survivor in survivors.prefix(64) {
      var descriptor: Int32 = -1
      guard cprocess_open(survivor.pid, &descriptor) == 0 else { continue }
      if descriptor >= 0 { child.survivorDescriptors.append(descriptor) }
      let token = child.number << 2 | Source.survivor.rawValue
      _ = cprocess_poller_watch_process(poller, survivor.pid, descriptor, token)
    }
    if child.survivorDescriptors.isEmpty { poll(child) }
  }

  private func poll(_ child: ChildProcess, after interval: UInt64 = pollInterval) {
    polled.append((child, Self.now + interval))
  }

  private func lookAgain() {
    guard !polled.isEmpty else { return }
    let now = Self.now
    let due = polled.filter { $0.at <= now }
    polled.removeAll { $0.at <= now }
    for (child, _) in due where child.phase != .over {
      lookAtLeader(of: child)
      if child.exit == nil { poll(child) } else { unsettled.append(child) }
    }
  }

  /// Adopted orphans that have ended cost nothing but their numbers; they are let go when something moves anyway.
  private func sweep() {
    let now = Self.now
    guard now - sweptAt > 1_000_000_000 else { return }
    sweptAt = now
    census.reapOrphans()
  }
}

extension Duration {
  fileprivate var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(min(seconds, 1_000_000_000)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
