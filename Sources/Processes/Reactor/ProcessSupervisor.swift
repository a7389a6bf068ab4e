import CProcess
import Foundation

/// Starts processes and makes sure that they and their descendants end.
public final class ProcessSupervisor: Sendable {
  /// The supervisor of this process.
  public static let shared = ProcessSupervisor()

  /// The word that marks this program's processes in their environment, so that another program can find them.
  package let cookie: String
  private let registry: ProcessRegistry
  private let processScan: ProcessScan
  let reactor: ProcessReactor
  private let environment: LaunchEnvironment
  /// The standard input of a process that is given none.
  private let null: Int32

  private init() {
    cookie = String(UInt64.random(in: .min ... .max), radix: 16) + "-" + String(getpid())
    registry = ProcessRegistry()
    processScan = ProcessScan(registry: registry, cookie: cookie)
    environment = LaunchEnvironment(cookie: cookie)
    null = OutputPipe.aboveStandard(open("/dev/null", O_RDONLY | O_CLOEXEC))
    reactor = ProcessReactor(registry: registry, processScan: processScan)
  }

  /// Ensures that no process outlives this program, however it ends.
  ///
  /// Starts the guardian, which kills the processes if this program is killed; adopts orphaned descendants; makes
  /// signals that end this program, unless it already handles them, kill the processes first; and raises the soft limit
  /// of open descriptors to the hard limit for this program, but not for the processes. The guardian is a process named
  /// `job-guardian`; its arguments, in `ps -f`, are this program's. Call this early in `main`, while there are few
  /// threads. Parts that the system refuses are left out, and `ShellOperation` also works without
  /// this call.
  ///
  /// After the call, threads that start processes no longer block SIGCHLD, so a dispatch source for that signal misses
  /// most ends. As at each start of a process, an ignored SIGCHLD gets its default action: the kernel would discard the
  /// exit statuses.
  ///
  /// - Warning: A child that this program itself starts in a session of its own, by `forkpty` or with
  ///   `POSIX_SPAWN_SETSID`, looks like an adopted process of a job, if the child started while a job was alive. The
  ///   pause, the cancellation and the end of the last job older than the child then apply to the child too;
  ///   ``endAll(within:)`` kills it; and its exit status may be lost. A signal that ends this program kills every such child
  ///   that is younger than the first job. Daemons that this program's other children leave behind are adopted too. Start
  ///   terminals and daemons before the jobs, or keep them in this program's session.
  public func start() { start(atEnd: nil) }

  /// Like `start()`; the guardian calls `body` once this program has ended, before it kills the processes.
  ///
  /// `body` executes in a fork of this program and may make system calls only.
  package func start(atEnd body: (@convention(c) () -> Void)?) {
    cprocess_drop_child_signals()
    cprocess_raise_descriptor_limit()
    reactor.watchGuardian(cprocess_guardian_start(cookie, body))
    processScan.adoptsOrphans.store(cprocess_adopt_orphans(), ordering: .relaxed)
    cprocess_end_by_signals()
  }

  /// Kills all processes and starts no more; returns whether all have ended.
  ///
  /// Call this when the program exits, from any thread. Blocks until the last process has ended, at most for `limit`.
  @discardableResult
  public func endAll(within limit: Duration = .seconds(1)) -> Bool {
    let end = ContinuousClock.now + limit
    // One scan can miss a process that forks meanwhile.
    var silence = cprocess_silence()
    // Half of the time is for remote processes.
    let remoteEnd = ContinuousClock.now + limit / 2
    // A process that was being launched has not received the signals.
    var wasLaunching = true
    while true {
      let launching = registry.close()
      // Most commands start no process: their exit skips the scans.
      guard registry.hasLaunched else { return true }
      // Whatever its jobs have left behind would be a child: mostly nothing, and then /proc is not read.
      let isAlone = launching == 0 && processScan.adoptsOrphans.load(ordering: .relaxed) && cprocess_guardian_release()
      if isAlone { return true }
      if wasLaunching {
        registry.signalAll(SIGTERM, remote: true)
        registry.signalAll(SIGCONT, remote: true)
      }
      wasLaunching = launching > 0
      registry.signalAll(SIGKILL, remote: false)
      let isRemoteEnd = ContinuousClock.now >= remoteEnd
      if isRemoteEnd { registry.signalAll(SIGKILL, remote: true) }
      let result = processScan.scanAll()
      let left = result.members.values.joined() + result.orphans
      let waiting = result.members.filter { !isRemoteEnd && registry[$0.key]?.launch.remoteGrace != nil }
      for (number, members) in result.members where waiting[number] == nil {
        for member in members { member.signal(SIGKILL) }
      }
      for orphan in result.orphans where waiting.isEmpty { orphan.signal(SIGKILL) }
      let isAlive = launching > 0 || result.leaders > 0 || !left.isEmpty
      if cprocess_is_silent(&silence, 2, isAlive, result.isDoubtful) { return true }
      if ContinuousClock.now >= end { return false }
      _ = poll(nil, 0, 1)
    }
  }

  /// Starts a process and returns once its program has begun, with a number for the reactor's commands.
  ///
  /// The delegate is retained until the end.
  func launch(_ launch: ProcessLaunch, delegate: any ChildDelegate) throws(ProcessError) -> UInt64 {
    guard let number = registry.beginLaunch() else {
      throw ProcessError(.ended, "all processes were ended: no more are started")
    }
    let (launchedAt, startTime) = (ProcessReactor.now, cprocess_ticks())
    do throws(ProcessError) {
      var spawned = try spawn(launch, number: number)
      spawned.startTime = startTime
      let child = ChildProcess(
        number: number, spawned, launch: launch, launchedAt: launchedAt, delegate: delegate)
      registry.register(child)
      cprocess_launched(&spawned.process)
      delegate.childBegan(child.pid)
      reactor.watch(child)
      return number
    } catch {
      registry.abandonLaunch()
      throw error
    }
  }

  private func spawn(_ launch: ProcessLaunch, number: UInt64) throws(ProcessError) -> ChildProcess.Spawned {
    // If the program can't be started, the shell reports why; it also executes a script without a first line for the
    // kernel.
    if let plain = launch.withoutShell, let spawned = try? spawnProgram(plain, number: number) { return spawned }
    return try spawnProgram(launch, number: number)
  }

  private func spawnProgram(_ launch: ProcessLaunch, number: UInt64) throws(ProcessError) -> ChildProcess.Spawned {
    guard let name = launch.arguments.first, !name.isEmpty else {
      throw ProcessError(.invalidArguments, "there is no program to start: the list of arguments is empty")
    }
    var arguments = CStrings()
    for argument in launch.arguments where !arguments.append(argument) {
      throw ProcessError(.invalidArguments, "\(name): an argument holds a zero byte, which no program can be given")
    }
    let program = try environment.program(named: name, in: launch.environment, from: launch.directory)
    return try launch.input.withDescriptor(null: null, of: program) { input throws(ProcessError) in
      try spawn(launch, number: number, program, &arguments, input)
    }
  }

  private func spawn(
    _ launch: ProcessLaunch, number: UInt64, _ program: String, _ arguments: inout CStrings, _ input: Int32
  ) throws(ProcessError) -> ChildProcess.Spawned {
    var spawned = ChildProcess.Spawned()
    do throws(ProcessError) {
      try Self.openOutput(of: &spawned, launch, program)
      let variables = launch.terminal == nil ? launch.environment : launch.environment.forTerminal
      let failure = environment.withPointers(launch: number, variables) { environment in
        arguments.withPointers { Self.spawn(program, $0, environment, launch, input, &spawned) }
      }
      guard let failure else {
        throw ProcessError(.invalidArguments, "\(program): \(LaunchEnvironment.fault(in: variables.variables))")
      }
      guard failure == 0 else { throw ProcessError.launching(program, in: launch.directory, failedWith: failure) }
      return spawned
    } catch {
      spawned.stdout.close()
      spawned.stderr.close()
      throw error
    }
  }

  private static func openOutput(
    of spawned: inout ChildProcess.Spawned, _ launch: ProcessLaunch, _ program: String
  ) throws(ProcessError) {
    if let size = launch.terminal {
      let failure = spawned.stdout.openTerminal(size)
      guard failure == 0 else { throw ProcessError.terminal(program, failedWith: failure) }
      return spawned.stdout.endInput(alsoKeys: false)
    }
    var failure = spawned.stdout.open()
    if failure == 0, !launch.mergesError { failure = spawned.stderr.open() }
    guard failure == 0 else { throw ProcessError.launching(program, in: launch.directory, failedWith: failure) }
  }

  private static func spawn(
    _ program: String, _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>?,
    _ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>?, _ launch: ProcessLaunch, _ input: Int32,
    _ spawned: inout ChildProcess.Spawned
  ) -> Int32 {
    program.withCString { program in
      func spawn(in directory: UnsafePointer<CChar>?) -> Int32 {
        let output = spawned.stdout.writer
        let error = spawned.stderr.isOpen ? spawned.stderr.writer : output
        let hasTerminal = launch.terminal != nil
        let input = hasTerminal && launch.input == .none ? output : input
        let passed = launch.descriptors.count == 2 ? launch.descriptors : [0, 0]
        var launch = cprocess_launch(
          path: program, arguments: arguments, environment: environment, directory: directory, input: input,
          output: output, error: error, has_terminal: hasTerminal, third: passed[0], fourth: passed[1])
        return cprocess_spawn(&launch, &spawned.process)
      }
      return launch.directory?.withCString { spawn(in: $0) } ?? spawn(in: nil)
    }
  }
}
