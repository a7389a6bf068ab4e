import Foundation
import JobModel
import Support
import Testing

@testable import JobEngine

/// For each fault of a job's program: what the person sees, and what remains, which is a whole log and no process.
struct ProcessFaultTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// In each text FOLDER is the folder of the test, and MARKER a number of seconds to sleep that is unique.
    let command: ShellWork.Command
    var directory: String?
    /// Cancelled once it has written its log.
    var isCancelled = false
    /// The reason of the failure, `ok` or `cancelled`.
    let seen: String
    /// The log file, each byte as the character with its number; nil if there is none.
    var log: String?

    static func program(
      _ name: String, _ arguments: [String], in directory: String? = nil, seen: String
    ) -> Fault {
      Fault(testDescription: name, command: .argv(arguments), directory: directory, seen: seen)
    }

    static func script(
      _ name: String, _ text: String, isCancelled: Bool = false, seen: String, log: String? = nil
    ) -> Fault {
      Fault(testDescription: name, command: .script(text), isCancelled: isCancelled, seen: seen, log: log)
    }
  }

  static let launches: [Fault] = [
    .program("no such program in PATH", ["no-such-program"], seen: "no-such-program: no such program in PATH"),
    .program("no such program", ["/no/such/program"], seen: "/no/such/program: no such program"),
    .program(
      "a path through a file", ["FOLDER/plain/program"],
      seen: "FOLDER/plain/program: no such program: a part of its path is not a directory"),
    .program(
      "a file without the permission to execute it", ["FOLDER/plain"],
      seen: "FOLDER/plain: not executable: a file with the permission to execute it is needed"),
    .program(
      "a folder instead of a program", ["FOLDER"],
      seen: "FOLDER: not executable: a file with the permission to execute it is needed"),
    .program(
      "a script whose interpreter is missing", ["FOLDER/bad-interpreter"],
      seen: "FOLDER/bad-interpreter: the interpreter that it names is missing: look at its first line"),
    .program(
      "a file that is not a program", ["FOLDER/garbage"],
      seen: "FOLDER/garbage: not a program of this system: a script needs a first line as #!/bin/sh"),
    .program(
      "arguments of 4 MB", ["/bin/echo", String(repeating: "x", count: 4 << 20)],
      seen: "/bin/echo: the arguments and the environment together are too long"),
    .program(
      "a working folder that is missing", ["/bin/true"], in: "FOLDER/gone", seen: "FOLDER/gone: no such directory"),
    .program("a file as working folder", ["/bin/true"], in: "FOLDER/plain", seen: "FOLDER/plain: not a directory"),
  ]

  static let ends: [Fault] = [
    .script("an exit status", "echo said; exit 3", seen: "exit 3", log: "said\n"),
    .script("the largest exit status", "exit 255", seen: "exit 255"),
    .script(
      "output that the program closes", "echo said; exec >&- 2>&-; sleep 0.05; exit 4", seen: "exit 4", log: "said\n"),
    .script(
      "binary output", #"printf 'a\000\377\033[2Jb\n\200c'"#, seen: "ok", log: "a\u{0}\u{FF}\u{1B}[2Jb\n\u{80}c"),
    .script(
      "a working folder that is removed while the program runs",
      "mkdir gone; cd gone; rmdir ../gone; echo said; exit 5", seen: "exit 5", log: "said\n"),
  ]

  static let leftovers: [Fault] = [
    .script(
      "a process in the background that holds the output open", "echo said; sleep MARKER & exit 6", seen: "exit 6",
      log: "said\n"),
    .script("a process in the background that has closed the output", "sleep MARKER >&- 2>&- & exit 6", seen: "exit 6"),
    .script("a process in a session of its own", "setsid sleep MARKER & exit 6", seen: "exit 6"),
    .script(
      "a process that has forked twice, as daemons do",
      "setsid sh -c 'setsid sleep MARKER >/dev/null 2>&1 & exit' & sleep 0.05; exit 6", seen: "exit 6"),
    .script(
      "a cancelled program that ignores SIGTERM", "trap '' TERM; echo up; while :; do sleep MARKER; done",
      isCancelled: true, seen: "cancelled", log: "up\n"),
    .script(
      "a cancelled program, and a process in another session that ignores SIGTERM",
      "trap '' TERM; setsid sleep MARKER & echo up; wait", isCancelled: true, seen: "cancelled", log: "up\n"),
    .script(
      "a program that has stopped itself and is cancelled", "echo up; kill -STOP $$; sleep MARKER", isCancelled: true,
      seen: "cancelled", log: "up\n"),
  ]

  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("x").deletingLastPathComponent().path(percentEncoded: false).split(separator: "/")
      .reduce("") { $0 + "/" + $1 }
    try Data("text".utf8).write(to: folder.file("plain"))
    try folder.addProgram("bad-interpreter", "#!/no/such/sh\n")
    try folder.addProgram("garbage", "garbage\n")
  }

  private func makeQueue(_ jobs: [Job]) throws -> JobQueue {
    try JobQueue(JobGraph(name: "test", jobs: jobs), options: .init(slots: 4, stateFolder: path + "/state"))
  }

  private func job(_ command: ShellWork.Command, in directory: String? = nil, name: String = "job") -> Job {
    let stop = ShellWork.Stop(signal: SIGTERM, grace: .milliseconds(100))
    return Job(name: name, work: .shell(ShellWork(command, directory: directory ?? path, stop: stop)))
  }

  private func ended(_ queue: JobQueue) -> Run {
    #expect(eventually { queue.run.isComplete })
    return queue.run
  }

  /// The bytes of the log of a job; nil if there is no log.
  private func log(of job: Int = 0, in run: Run) throws -> [UInt8]? {
    let path = try #require(run.logPath(JobID(job), attempt: 1))
    return FileManager.default.contents(atPath: path).map { Array($0) }
  }

  private func seen(_ state: JobState) -> String {
    switch state {
    case .succeeded: "ok"
    case .failed(let failure, _): failure.reason
    case .cancelled: "cancelled"
    default: "\(state)"
    }
  }

  @Test(arguments: launches + ends + leftovers)
  func aFaultIsToldInWordsAndLeavesAWholeLogAndNoProcess(_ fault: Fault) throws {
    let marker = ProcessTable.marker()
    func text(_ text: String) -> String { text.replacing("FOLDER", with: path).replacing("MARKER", with: marker) }
    let command: ShellWork.Command =
      switch fault.command {
      case .script(let script): .script(text(script))
      case .argv(let words): .argv(words.map(text))
      }
    let queue = try makeQueue([job(command, in: fault.directory.map(text))])
    queue.start()
    if fault.isCancelled {
      #expect(eventually { queue.run.jobs.first?.log.total ?? 0 > 0 })
      queue.send(.cancel([JobID(0)], by: .person))
    }
    let run = ended(queue)
    #expect(seen(run.jobs[0].state) == text(fault.seen))
    #expect(ProcessTable.processes(with: marker).isEmpty)
    #expect(try log(in: run) == fault.log.map { $0.unicodeScalars.map { UInt8($0.value) } })
  }

  /// The signals that end a program, but not those that the C library keeps to itself.
  static let signals: [(Int32, String)] = [
    (SIGHUP, "SIGHUP"), (SIGINT, "SIGINT"), (SIGQUIT, "SIGQUIT"), (SIGILL, "SIGILL"), (SIGTRAP, "SIGTRAP"),
    (SIGABRT, "SIGABRT"), (SIGBUS, "SIGBUS"), (SIGFPE, "SIGFPE"), (SIGKILL, "SIGKILL"), (SIGUSR1, "SIGUSR1"),
    (SIGSEGV, "SIGSEGV"), (SIGUSR2, "SIGUSR2"), (SIGPIPE, "SIGPIPE"), (SIGALRM, "SIGALRM"), (SIGTERM, "SIGTERM"),
    (SIGXCPU, "SIGXCPU"), (SIGXFSZ, "SIGXFSZ"), (SIGVTALRM, "SIGVTALRM"), (SIGPROF, "SIGPROF"), (SIGSYS, "SIGSYS"),
    // These numbers are Linux's.
    (16, "SIGSTKFLT"), (29, "SIGIO"), (30, "SIGPWR"), (40, "signal 40"),
  ]

  @Test(arguments: signals)
  func theSignalThatEndsAProgramIsNamed(_ number: Int32, _ name: String) throws {
    let run = ended(try started([job(.script("ulimit -c 0; echo said; kill -\(number) $$"))]))
    #expect(seen(run.jobs[0].state) == "\(name) (\(128 + number))")
    #expect(try log(in: run) == Array("said\n".utf8))
  }

  private func started(_ jobs: [Job]) throws -> JobQueue {
    let queue = try makeQueue(jobs)
    queue.start()
    return queue
  }

  @Test func aLineWithoutEndIsCutOnTheScreenAndWholeInTheLog() throws {
    let size = 16 << 20
    let run = ended(try started([job(.script("head -c \(size) /dev/zero | tr '\\0' x"))]))
    #expect(seen(run.jobs[0].state) == "ok")
    #expect(run.jobs[0].log.total == 1)
    let line = try #require(run.jobs[0].log.last?.line)
    #expect(line.isCut && line.text.utf8.count == LogLine.limit)
    let path = try #require(run.logPath(JobID(0), attempt: 1))
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == size)
  }

  @Test func aFolderThatVanishesBeforeTheStartIsNamed() throws {
    try FileManager.default.createDirectory(atPath: path + "/work", withIntermediateDirectories: false)
    var second = job(.script("echo said"), in: path + "/work", name: "second")
    second.needs = [JobNeed(JobID(0))]
    let run = ended(try started([job(.script("rmdir work"), name: "first"), second]))
    #expect(seen(run.jobs[1].state) == "\(path)/work: no such directory")
  }

  @Test func aLogWhoseFolderVanishesIsToldOnceAndTheJobGoesOn() throws {
    let queue = try makeQueue([job(.script("echo one; sleep 0.05; echo two"))])
    let logs = try #require(queue.folder?.path)
    try FileManager.default.removeItem(atPath: logs)
    queue.start()
    let run = ended(queue)
    #expect(seen(run.jobs[0].state) == "ok")
    let said = (0..<run.jobs[0].log.count).map { run.jobs[0].log[$0].line }
    #expect(said.filter { $0.stream == .stdout }.map(\.text) == ["one", "two"])
    let notes = said.filter { $0.stream == .note }.map(\.text)
    #expect(notes == ["the output is not kept from here on: \(logs)/logs/job.0.1.log: No such file or directory"])
  }

  // MARK: The reference

  private static var tables: String {
    func table(_ title: String, _ rows: [[String]]) -> String {
      articleTable(title, columns: ["Fault", "Message", "Log"], rows)
    }
    func rows(_ faults: [Fault]) -> [[String]] {
      faults.map { fault in
        let isOutcome = fault.seen == "ok" || fault.seen == "cancelled"
        let seen = fault.seen.replacing("FOLDER", with: "/home/me")
        return [fault.testDescription, isOutcome ? seen : "`\(seen)`", fault.log == nil ? "none" : "all of its output"]
      }
    }
    let signalRows = signals.map { [$1, "`\($1) (\(128 + $0))`", "all of its output"] }
    return [
      table("Programs that can't be started", rows(launches)), table("Ends", rows(ends) + signalRows),
      table("Processes that outlive their program", rows(leftovers)),
    ].joined(separator: "\n")
  }

  /// The tables of the article on programs, recorded with OPDASH_RECORD=1 in the environment.
  @Test func theReferenceHasEveryFaultOfAProgram() throws {
    let article = "Sources/JobFiles/JobFiles.docc/ProgramFaults.md"
    #expect(try faultOfTables(Self.tables, in: article, from: "## Programs that") == nil)
  }
}
