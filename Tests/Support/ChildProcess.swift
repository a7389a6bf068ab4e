import Foundation

/// A child process with the environment and descriptors that a test gives it.
package struct ChildProcess: Sendable {
  /// How a process ended.
  package enum Ending: Sendable, Equatable {
    case exited(Int32)
    case signalled(Int32)
  }

  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
  }

  package let pid: pid_t

  /// Starts `arguments[0]`, found by PATH, with `descriptors` as its descriptors 0, 1 and 2.
  ///
  /// With `terminal` it leads a new session with that controlling terminal, which is also its descriptors 0, 1 and 2. With
  /// `leadsGroup` it leads a new process group, which a signal to `-pid` reaches.
  package init(
    _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment,
    descriptors: [Int32] = [], terminal: String? = nil, leadsGroup: Bool = false
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    for (number, descriptor) in descriptors.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    var flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)
    if let terminal {
      // The first terminal that the leader of a new session opens becomes its controlling one.
      flags |= Self.newSession
      posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
      posix_spawn_file_actions_adddup2(&actions, 0, 1)
      posix_spawn_file_actions_adddup2(&actions, 0, 2)
    }
    if leadsGroup { flags |= Int32(POSIX_SPAWN_SETPGROUP) }
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    var argv = arguments.map { strdup($0) } + [nil]
    var envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for string in argv + envp { free(string) } }
    var pid = pid_t()
    let error = posix_spawnp(&pid, arguments[0], &actions, &attributes, &argv, &envp)
    guard error == 0 else {
      throw Failure(description: "\(arguments[0]) did not start: \(String(cString: strerror(error)))")
    }
    self.pid = pid
  }

  /// How it ended, nil while it executes; must not be called again after that.
  package func ending(waiting: Bool = false) -> Ending? {
    var status: Int32 = 0
    var result: pid_t
    repeat { result = waitpid(pid, &status, waiting ? 0 : WNOHANG) } while result < 0 && errno == EINTR
    guard result == pid else { return nil }
    let signal = status & 0x7F
    return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
  }

  /// Kills it if it has not ended, and waits for its end; not after `ending` has returned one.
  package func stop() {
    guard ending() == nil else { return }
    kill(pid, SIGKILL)
    _ = ending(waiting: true)
  }

  /// Runs a program to its end; returns its standard output and how it ended.
  package static func run(
    _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> (output: String, ending: Ending?) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Failure(description: "no pipe: \(String(cString: strerror(errno)))") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    let child: ChildProcess
    do {
      defer { close(ends[1]) }
      child = try ChildProcess(arguments, environment: environment, descriptors: [0, ends[1], 2])
    }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(ends[0], &buffer, buffer.count)
      if count > 0 { output += buffer.prefix(count) } else if count == 0 || errno != EINTR { break }
    }
    return (String(decoding: output, as: UTF8.self), child.ending(waiting: true))
  }

  // POSIX_SPAWN_SETSID, which glibc shows only to programs that ask for its extensions.
  private static let newSession: Int32 = 0x80
}

/// The products of the build.
package enum Built {
  /// The path of an executable product.
  package static func product(_ name: String) -> String {
    let tests = URL(fileURLWithPath: CommandLine.arguments.first ?? "")
    return tests.deletingLastPathComponent().appendingPathComponent(name).path
  }
}
