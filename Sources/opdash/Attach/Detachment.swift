import Basics
import Foundation
import JobModel
import Screen
import Session

/// The part of `--detach` in the program that executes the run: it tells the program of the terminal when it has begun.
///
/// The run's program is started anew, in a session of its own, before anything else: threads and a guardian could not be
/// taken along.
struct Detachment {
  /// The variable with the descriptor to report to.
  private static let variable = "OPDASH_DETACHED"

  private let descriptor: Int32

  /// Takes the variable out of the environment; nil without one, in the program of the terminal.
  init?(_ environment: inout Environment) {
    guard let text = environment.variables.removeValue(forKey: Self.variable) else { return nil }
    unsetenv(Self.variable)
    guard let number = Int32(text), FileStatus(number)?.kind == S_IFIFO else { return nil }
    descriptor = number
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    // `start` closes a terminal, and main opens a stream in its place that can't be read.
    if fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE == O_WRONLY { environment.inputIsTerminal = true }
    // The end of a login sends it to all processes that it has started.
    signal(SIGHUP, SIG_IGN)
  }

  /// Reports the name of the run once it has one, and is recorded or can't be; `problem` says why it can't be reached.
  @MainActor
  func announce(_ feed: any JobFeed, _ recording: RunRecording?, problem: String?) {
    Self.pending = { if let start = feed.snapshot.start { report(start.id, problem) } }
    // Behind the line about a run that is not recorded, which the main queue has by then.
    let tell: @Sendable () -> Void = { onMain { Self.tell() } }
    let begun: @MainActor () -> Void = { if let recording { recording.whenKnown(tell) } else { tell() } }
    let subscription = feed.subscribe(on: .main) { events in
      for case .runStarted in events.lazy.map(\.fact) { MainActor.assumeIsolated { begun() } }
    }
    if subscription.snapshot.start != nil { begun() } else { Self.announcing = subscription }
  }

  /// Retains the subscription until the run has begun.
  @MainActor private static var announcing: JobSubscription?
  /// Reports the name; nil after that.
  @MainActor private static var pending: (@MainActor () -> Void)?

  /// Reports the name before the program ends, if it has not yet.
  @MainActor
  static func tell() { pending.take()?() }

  @MainActor
  private func report(_ id: String, _ problem: String?) {
    Self.announcing = nil
    if let problem {
      Output.standardError.write(line: MessageText.of("opdash: opdash attach can't show it: \(problem)"))
    }
    let line = id + "\n"
    _ = write(descriptor, line, line.utf8.count)
    close(descriptor)
    let null = open("/dev/null", O_RDWR | O_CLOEXEC)
    dup2(null, STDERR_FILENO)
    close(null)
  }

  // MARK: In the terminal

  /// Whether a command line starts a run that is to be detached.
  static func isWanted(_ words: [String]) -> Bool {
    // Other starts are spared a second reading of the command line.
    words.contains("--detach") && ((try? CommandLineParser.parse(words))?.isDetached ?? false)
  }

  /// Starts the program anew, prints the name of its run or its error, and ends; returns why it can't be started.
  static func start(_ arguments: [String]) -> String {
    var (report, errors): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
    guard pipe(&report) == 0, pipe(&errors) == 0 else { return String(cString: strerror(errno)) }
    for descriptor in [report[0]] + errors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    if isatty(STDIN_FILENO) == 1 { posix_spawn_file_actions_addclose(&actions, STDIN_FILENO) }
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    // POSIX_SPAWN_SETSID, which Swift imports only with _GNU_SOURCE.
    posix_spawnattr_setflags(&attributes, 0x80)
    var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    setenv(variable, "\(report[1])", 1)
    var pid = pid_t()
    let failure = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, &argv, environ)
    guard failure == 0 else { return String(cString: strerror(failure)) }
    close(report[1])
    close(errors[1])
    finish(pid, report: report[0], errors: errors[0])
  }

  /// Passes on the program's messages until it reports its run or ends.
  private static func finish(_ pid: pid_t, report: Int32, errors: Int32) -> Never {
    var (name, isTold, hasErrors): ([UInt8], Bool, Bool) = ([], false, true)
    var buffer = [UInt8](repeating: 0, count: 4096)
    while hasErrors || !isTold {
      var requests = [
        pollfd(fd: isTold ? -1 : report, events: Int16(POLLIN), revents: 0),
        pollfd(fd: hasErrors ? errors : -1, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&requests, 2, -1) > 0 else { continue }
      if requests[1].revents != 0 {
        let count = read(errors, &buffer, buffer.count)
        hasErrors = count > 0
        if hasErrors { Output.standardError.write(Array(buffer[..<count])) }
      }
      if requests[0].revents != 0 {
        let count = read(report, &buffer, buffer.count)
        isTold = count <= 0
        if count > 0 { name += buffer[..<count] }
      }
    }
    guard name.isEmpty else {
      Output.standardOutput.write(name)
      if let loss = Output.standardOutput.loss { Output.standardError.write(line: MessageText.of("opdash: \(loss)")) }
      exit(Output.standardOutput.failure == nil ? ExitStatus.success : ExitStatus.jobFailed)
    }
    var status: Int32 = 0
    waitpid(pid, &status, 0)
    exit(status & 0x7F == 0 ? (status >> 8) & 0xFF : ExitStatus.signal(status & 0x7F))
  }
}
