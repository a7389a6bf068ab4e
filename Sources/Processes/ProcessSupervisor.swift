import CProcess
import Foundation

/// Starts this program's jobs as processes and answers for their end.
public final class ProcessSupervisor: Sendable {
  /// The supervisor of this process.
  public static let shared = ProcessSupervisor()

  private let cookie: String
  private let registry: ProcessRegistry
  private let census: ProcessCensus
  private let reactor: ProcessReactor
  private let environment: LaunchEnvironment
  /// The standard input of every job.
  private let null: Int32

  private init() {
    cookie = String(UInt64.random(in: .min ... .max), radix: 16) + "-" + String(getpid())
    registry = ProcessRegistry()
    census = ProcessCensus(registry: registry, cookie: cookie)
    environment = LaunchEnvironment(cookie: cookie)
    null = cprocess_null()
    reactor = ProcessReactor(registry: registry, census: census)
  }

  /// Makes sure that no process of a job outlives this program, however it ends.
  ///
  /// Starts the guardian, which ends them should this program die without a chance to; adopts orphaned descendants, so that
  /// none is lost; and raises the limit of open descriptors to the hard one, which the jobs don't see. Call it early in
  /// `main`, while there are few threads. What it can't have it does without: `ShellOperation` works as well before.
  ///
  /// Threads that start jobs no longer block SIGCHLD after it: a dispatch source for that signal hears of few children.
  public func start() {
    cprocess_drop_child_signals()
    cprocess_raise_descriptor_limit()
    _ = cprocess_guardian_start(cookie)
    census.adoptsOrphans.store(cprocess_adopt_orphans(), ordering: .relaxed)
  }

  /// Kills all that any job has left, at once, and starts nothing more; returns whether all is gone.
  ///
  /// For the way out of the program, from any thread. Blocks until the last process is gone, at most for `limit`.
  @discardableResult
  public func endAll(within limit: Duration = .seconds(1)) -> Bool {
    let end = ContinuousClock.now + limit
    // Once more after the first look that finds none: what forks while it is looked for can be missed once.
    var quiet = 0
    while true {
      let launching = registry.close()
      registry.signalAll(SIGKILL)
      let everyone = census.takeAll()
      let left = everyone.members.values.joined() + everyone.orphans
      for member in left { member.signal(SIGKILL) }
      let isQuiet = launching == 0 && everyone.leaders == 0 && left.isEmpty && !everyone.isDoubtful
      quiet = isQuiet ? quiet + 1 : 0
      if quiet == 2 { return true }
      if ContinuousClock.now >= end { return false }
      _ = poll(nil, 0, 1)
    }
  }

  /// Starts a process; does not wait for its program to begin, and tells with `ended` if it could not.
  ///
  /// `launched` is called before this returns, the others on the supervisor's thread, `ended` last of all.
  func launch(
    _ launch: ProcessLaunch, launched: (pid_t) -> Void,
    output: @escaping @Sendable (ProcessStream, [UInt8], @escaping @Sendable () -> Void) -> Void,
    ended: @escaping @Sendable (Result<ProcessExit, ProcessError>) -> Void
  ) -> Result<UInt64, ProcessError> {
    guard let number = registry.beginLaunch() else {
      return .failure(ProcessError(.ended, "all jobs were ended: nothing is started any more"))
    }
    let launchedAt = ProcessReactor.now
    switch Result(catching: { () throws(ProcessError) in try spawn(launch, number: number) }) {
    case .success(var spawned):
      let child = ChildProcess(
        number: number, process: spawned.child, launch: launch, program: spawned.program, launchedAt: launchedAt,
        stdout: OutputReader(spawned.stdout), stderr: OutputReader(spawned.stderr), output: output, ended: ended)
      registry.register(child)
      cprocess_launched(&spawned.child)
      launched(child.pid)
      reactor.watch(child)
      return .success(number)
    case .failure(let error):
      registry.abandonLaunch()
      return .failure(error)
    }
  }

  func send(_ command: ProcessReactor.Command, to number: UInt64) { reactor.send(command, to: number) }

  private struct Spawned {
    let program: String
    var child = cprocess_child()
    var stdout = OutputPipe()
    var stderr = OutputPipe()
  }

  private func spawn(_ launch: ProcessLaunch, number: UInt64) throws(ProcessError) -> Spawned {
    guard let name = launch.arguments.first, !name.isEmpty else {
      throw ProcessError(.invalidArguments, "there is no program to start: the list of arguments is empty")
    }
    var arguments = CStrings()
    for argument in launch.arguments where !arguments.append(argument) {
      throw ProcessError(.invalidArguments, "\(name): an argument holds a zero byte, which no program can be given")
    }
    let program = try ProgramSearch.resolve(name, in: environment.searchPath(with: launch.environment)).get()

    var spawned = Spawned(program: program)
    var failure = cprocess_pipe(&spawned.stdout.reader, &spawned.stdout.writer)
    if failure == 0 { failure = cprocess_pipe(&spawned.stderr.reader, &spawned.stderr.writer) }
    var hasEnvironment = true
    if failure == 0 {
      let result = environment.withPointers(launch: number, with: launch.environment) { environment in
        arguments.withPointers { arguments in
          Self.spawn(program, arguments, environment, launch.directory, null, &spawned)
        }
      }
      hasEnvironment = result != nil
      failure = result ?? EINVAL
    }
    guard failure != 0 else { return spawned }
    spawned.stdout.close()
    spawned.stderr.close()
    guard hasEnvironment else {
      throw ProcessError(.invalidArguments, "\(name): an environment variable has no name, or holds a zero byte")
    }
    throw ProcessError.launching(program, launch, failedWith: failure)
  }

  private static func spawn(
    _ program: String, _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>?,
    _ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>?, _ directory: String?, _ input: Int32,
    _ spawned: inout Spawned
  ) -> Int32 {
    program.withCString { program in
      func spawn(in directory: UnsafePointer<CChar>?) -> Int32 {
        var launch = cprocess_launch(
          path: program, arguments: arguments, environment: environment, directory: directory, input: input,
          output: spawned.stdout.writer, error: spawned.stderr.writer)
        return cprocess_spawn(&launch, &spawned.child)
      }
      return directory?.withCString { spawn(in: $0) } ?? spawn(in: nil)
    }
  }
}
