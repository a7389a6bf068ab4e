import Foundation
import Support
import Testing

/// Faults of the machine: what opdash says of each, its exit status, and what is kept.
struct MachineFaultTests {
  /// What there is at the end of a run of two jobs, of which the second one makes a file.
  enum Kept: String {
    case all = "all"
    case none = "nothing"
    case nothing = "nothing is started"
    case jobs = "what was written before; the jobs continue"
    case stopped = "what was written before; the jobs are ended"
    case part = "the part"
    case before = "the earlier output"
    case earlier = "the files that were there"
  }

  /// What the test needs of the machine.
  enum Need {
    case nothing
    /// A mount namespace of its own.
    case mounts
    /// The same, and a build that runs without /proc.
    case mountOverProc
    /// A user without privileges.
    case nobody
    /// A program that a limit of memory leaves as it is.
    case memory
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var need = Need.nothing
    /// What makes the fault, and the command, for sh in the folder of the test; `$OPDASH` is opdash.
    let script: String
    /// The end of a line; nil if nothing is said.
    ///
    /// FOLDER is the folder of the test, RUN the name of the run, and NUMBER a number.
    let seen: String?
    let status: Int32
    let kept: Kept
  }

  private static let run = "exec $OPDASH run two.yml"
  /// An argument of `env` under the address sanitizer, whose leak checker would decide the status.
  private static let withoutLeakChecker = FaultHandling.isSanitized ? "ASAN_OPTIONS=detect_leaks=0" : ""
  private static let noState = "neither HOME nor XDG_STATE_HOME says where runs are recorded; say it with --state DIR"

  private static func mount(_ options: String, on folder: String = "disk", _ command: String) -> String {
    "mkdir -p \(folder) && mount -t tmpfs -o \(options) none \(folder) && \(command)"
  }

  /// The folder of a run that can't be made.
  private static func noFolder(_ path: String, _ reason: String) -> String {
    "opdash: cannot make the run's folder \(path)/runs/RUN: \(reason); name another with --state DIR; "
      + "the run goes on without being recorded"
  }

  private static func home(_ name: String, _ script: String, _ seen: String?, starts: Bool = false) -> Fault {
    Fault(
      testDescription: name, script: "unset XDG_STATE_HOME XDG_CONFIG_HOME; \(script)", seen: seen,
      status: starts ? 0 : 2, kept: starts ? .all : .nothing)
  }

  static let homes: [Fault] = [
    home("no HOME", "unset HOME; \(run)", "opdash: " + noState),
    home("an empty HOME", "HOME= \(run)", "opdash: " + noState),
    home("a HOME that is not an absolute path", "HOME=home \(run)", "opdash: " + noState),
    home("no HOME, and `--state`", "unset HOME; \(run) --state state", nil, starts: true),
    home(
      "a file as HOME", "HOME=$PWD/two.yml \(run)", noFolder("FOLDER/two.yml/.local/state/opdash", "Not a directory"),
      starts: true),
    Fault(
      testDescription: "a HOME that is not writable", need: .nobody,
      script: "mkdir -m 555 mine; HOME=$PWD/mine; unset XDG_STATE_HOME; \(asNobody) $OPDASH run two.yml",
      seen: noFolder("FOLDER/mine/.local/state/opdash", "Permission denied"), status: 0, kept: .all),
    Fault(
      testDescription: "a settings file that is not readable", need: .nobody,
      script: "mkdir -p config/opdash; : >config/opdash/config.yaml; chmod 0 config/opdash/config.yaml; "
        + "\(asNobody) $OPDASH run two.yml",
      seen: "FOLDER/config/opdash/config.yaml:1:1: permission denied: make the file readable for you", status: 2,
      kept: .nothing),
  ]

  private static let asNobody = "exec /usr/bin/setpriv --reuid 65534 --regid 65534 --clear-groups"

  static let disks: [Fault] = [
    Fault(
      testDescription: "a read-only disk for the runs", need: .mounts, script: mount("ro", "\(run) --state disk"),
      seen: noFolder("FOLDER/disk", "Read-only file system"), status: 0, kept: .all),
    Fault(
      testDescription: "a read-only disk for the trace", need: .mounts,
      script: mount("ro", "\(run) --trace disk/trace"),
      seen: "opdash: can't write FOLDER/disk/trace: Read-only file system", status: 2, kept: .nothing),
    Fault(
      testDescription: "a read-only disk for a download", need: .mounts, script: mount("ro", "$OPDASH get -d disk URL"),
      seen: "failed: Read-only file system: FOLDER/disk/f.part in NUMBERs", status: 1, kept: .none),
    Fault(
      testDescription: "a folder for downloads that can't be made", need: .mounts,
      script: mount("ro", "$OPDASH get -d disk/new URL"),
      seen: "failed: Read-only file system: FOLDER/disk/new/ in NUMBERs", status: 1, kept: .nothing),
    Fault(
      testDescription: "a read-only disk for temporary files, which a scenario needs", need: .mounts,
      script: mount("ro", "TMPDIR=$PWD/disk exec $OPDASH demo diamond"),
      seen: "opdash: can't make the folder FOLDER/disk/opdash-diamond-RUN: Read-only file system; "
        + "name another with TMPDIR", status: 2, kept: .nothing),
    Fault(
      testDescription: "a disk without room for the folder of the run", need: .mounts,
      script: mount("nr_inodes=1", "\(run) --state disk"), seen: noFolder("FOLDER/disk", "No space left on device"),
      status: 0, kept: .all),
    Fault(
      testDescription: "a disk that a log fills", need: .mounts,
      script: mount("size=64k", "exec $OPDASH run long.yml --state disk"),
      seen: "the output is not kept from here on: FOLDER/disk/runs/RUN/logs/long.0.1.log: No space left on device",
      status: 0, kept: .jobs),
    Fault(
      testDescription: "a disk that a download fills", need: .mounts,
      script: mount("size=64k", "$OPDASH get -d disk URL"),
      seen: "failed: No space left on device: FOLDER/disk/f.part in NUMBERs", status: 1, kept: .part),
    Fault(
      testDescription: "a disk that the trace fills", need: .mounts,
      script: mount("size=4k", "exec $OPDASH run many.yml --trace disk/trace"),
      seen: "opdash: can't write FOLDER/disk/trace: No space left on device", status: 1, kept: .jobs),
    Fault(
      testDescription: "a disk that the lines fill", need: .mounts,
      script: mount("size=64k", "exec $OPDASH run endless.yml >disk/lines"),
      seen: "opdash: can't write standard output: No space left on device", status: 141, kept: .stopped),
    Fault(
      testDescription: "a disk that the events of `--ui json` fill", need: .mounts,
      script: mount("size=64k", "exec $OPDASH run endless.yml --ui json >disk/events"),
      seen: "opdash: can't write standard output: No space left on device", status: 141, kept: .stopped),
    Fault(
      testDescription: "a disk that the output of another command fills", need: .mounts,
      script: mount("size=4k", "exec $OPDASH schema >disk/schema"),
      seen: "opdash: can't write standard output: No space left on device", status: 1, kept: .before),
    Fault(
      testDescription: "a disk that a report fills", need: .mounts,
      script: mount(
        "size=4k",
        "echo old >disk/page; $OPDASH run two.yml --ui quiet; rm done; exec $OPDASH report --html disk/page"),
      seen: "opdash: can't write FOLDER/disk/page: No space left on device", status: 1, kept: .earlier),
    Fault(
      testDescription: "a full disk for the file of `opdash init`", need: .mounts,
      script: mount("size=4k", "echo old >disk/page; exec $OPDASH init disk/opdash.yml"),
      seen: "opdash: can't write disk/opdash.yml: No space left on device", status: 2, kept: .earlier),
  ]

  static let surroundings: [Fault] = [
    Fault(
      testDescription: "too little memory for the threads (`ulimit -v`)", need: .memory,
      script: "ulimit -v 150000; \(run)",
      seen: "opdash: opdash starts 16 threads and more, but may start only NUMBER: "
        + "raise the limit of memory with ulimit -v unlimited", status: 2, kept: .nothing),
    Fault(
      testDescription: "no /proc", need: .mountOverProc, script: "mount -t tmpfs none /proc && \(run)",
      seen: "opdash: /proc is not mounted, where processes are looked for: mount it with mount -t proc proc /proc",
      status: 2, kept: .nothing),
    Fault(
      testDescription: "a current folder that has been removed",
      script: "mkdir gone; cd gone; rmdir ../gone; exec $OPDASH run ../two.yml",
      seen: "opdash: the current folder no longer exists: FOLDER/gone: change to another with cd", status: 2,
      kept: .nothing),
    Fault(
      testDescription: "no folder for temporary files", script: "TMPDIR=/no/such \(run)", seen: nil, status: 0,
      kept: .all),
    Fault(
      testDescription: "a locale that is missing", script: "LC_ALL=xx_XX.UTF-8 \(run)", seen: nil, status: 0, kept: .all
    ),
    Fault(
      testDescription: "a time zone that is missing", script: "TZ=No/Where \(run)", seen: nil, status: 0, kept: .all),
    Fault(
      testDescription: "a time zone that is not a time zone", script: "TZ=:/etc/passwd \(run)", seen: nil, status: 0,
      kept: .all),
    Fault(
      testDescription: "an empty environment",
      script: "O=$OPDASH; exec env -i \(withoutLeakChecker) $O run two.yml --state state", seen: nil, status: 0,
      kept: .all),
  ]

  private static let faults = homes + disks + surroundings

  private let place: Workplace

  init() throws {
    place = try Workplace(files: [
      "two.yml": "jobs: { one: { run: echo spoken }, two: { needs: [one], run: touch done } }",
      "endless.yml": "jobs: { long: { run: seq 50000; sleep 600 }, next: { needs: [long], run: touch done } }",
      "long.yml": "jobs: { long: { run: seq 50000 }, next: { needs: [long], run: touch done } }",
      "many.yml": "jobs: { "
        + (1...40).map { "job\($0): { run: 'true' }, " }.joined() + "last: { needs: [job40], run: touch done } }",
    ])
    chmod(place.folder.url.path, 0o777)
  }

  // MARK: What the machine can do

  private static let ownMounts = ["unshare", "-m", "--propagation", "private", "sh", "-c"]
  private static let canMount =
    (try? ChildProcess.run(ownMounts + ["mount -t tmpfs none /tmp"]).ending) == .exited(0)
  private static let canBeNobody =
    geteuid() == 0 && (try? ChildProcess.run(["sh", "-c", "\(asNobody) true"]).ending) == .exited(0)

  private static func isPossible(_ fault: Fault) -> Bool {
    switch fault.need {
    case .nothing: true
    case .mounts: canMount
    case .mountOverProc: canMount && !FaultHandling.isAddressSanitized
    case .nobody: canBeNobody
    case .memory: !FaultHandling.isSanitized
    }
  }

  @Test(arguments: faults.filter(isPossible))
  func aFaultIsToldInWordsAndKeepsWhatItMay(_ fault: Fault) throws { try check(fault) }

  // What the machine can't do is left out above, and shown here.
  @Test(.enabled(if: canMount, "the faults of disks and of /proc need root, who may mount")) func disksCanBeMounted() {}
  @Test(.enabled(if: canBeNobody, "the faults of permissions need root, who may become another user"))
  func anotherUserCanBeTaken() {}
  @Test(.enabled(if: !FaultHandling.isAddressSanitized, "the address sanitizer needs /proc")) func procCanBeHidden() {}
  @Test(.enabled(if: !FaultHandling.isSanitized, "a sanitizer takes more memory than the limit"))
  func memoryCanBeLimited() {}

  private func check(_ fault: Fault) throws {
    let server = try RawServer(RawServer.file([UInt8](repeating: 0x78, count: 1_000_000)))
    defer { server.stop() }
    let script = fault.script.replacing("URL", with: server.url("/f").absoluteString)
    // A mount is gone with the namespace, so what is on it is listed at its end.
    let listed =
      script.replacing("exec $OPDASH", with: "$OPDASH")
      + "; s=$?; { ls disk; cat disk/page; } >left 2>/dev/null; exit $s"
    let run =
      fault.need == .mounts || fault.need == .mountOverProc
      ? try place.script(
        "exec \(Self.ownMounts.dropLast().joined(separator: " ")) -c \"$SCRIPT\"", environment: ["SCRIPT": listed])
      : try place.script(script)
    #expect(run.ending() == .exited(fault.status), "\(run.outputText) \(run.errorText)")
    let lines = (run.outputText + run.errorText).split(separator: "\n").map { normal(String($0)) }
    if let seen = fault.seen {
      #expect(lines.contains { $0.hasSuffix(seen) }, "\(lines.suffix(5))")
    } else {
      #expect(run.errorText == "" && run.outputText.contains("two: 2 ok in "), "\(lines)")
    }
    #expect(place.has("done") == (fault.kept == .all || fault.kept == .jobs))
    if fault.kept == .nothing { #expect(!run.outputText.contains(" ok in ")) }
    let left: [Kept: String] = [.part: "f.part\nf.part.meta\n", .none: "", .earlier: "page\nold\n"]
    if let left = left[fault.kept] { #expect(place.contents("left") == Data(left.utf8)) }
  }

  /// The line with FOLDER, RUN and NUMBER in place of what differs from run to run.
  private func normal(_ line: String) -> String {
    line.replacing(place.folder.url.path, with: "FOLDER").replacing(#/runs/[0-9.-]+/#, with: "runs/RUN")
      .replacing(#/opdash-diamond-[0-9A-F-]+/#, with: "opdash-diamond-RUN")
      .replacing(#/only [0-9]+:/#, with: "only NUMBER:").replacing(#/in [0-9.]+s$/#, with: "in NUMBERs")
  }

  // MARK: Memory

  @Test(
    .enabled(if: !FaultHandling.isSanitized, "a sanitizer takes more memory than the limit"),
    arguments: ["tui", "inline", "plain"])
  func memoryThatRunsOutEndsTheJobsAndRestoresTheTerminal(_ interface: String) throws {
    let marker = ProcessTable.marker()
    try place.write(
      "slots: 2\njobs: { flood: { run: 'yes \(marker)' }, nap: { run: [sleep, \"\(marker)\"] } }", to: "flood.yml")
    let pty = try place.pty(words: ["run", "flood.yml", "--ui", interface], environment: ["SWIFT_BACKTRACE": ""])
    let modes = pty.initialModeNumbers
    #expect(pty.waitUntil { _ in ProcessTable.processes(with: marker).count >= 2 })
    if interface != "plain" {
      #expect(pty.waitUntil { $0.modeNumbers != modes })
    }
    // From here on there is no more than it has.
    let size = try #require(ProcessTable.addressSpace(of: pty.program))
    let limited = try ChildProcess.run(["prlimit", "--pid", "\(pty.program)", "--as=\(size)"])
    #expect(limited.ending == .exited(0))
    // The runtime ends the program where it finds it, other code by the pointer that it was not given. A run that does
    // with what it has, for so many more lines, or in which dispatch sleeps for want of a thread, is ended.
    let enough = min(place.logSize + 4 << 20, 200 << 20)
    #expect(
      pty.waitUntil {
        $0.ending != nil || place.logSize >= enough || ProcessTable.hasSleepingThread($0.program)
      })
    if pty.ending == nil { kill(pty.child.pid, SIGTERM) }
    #expect(pty.waitUntil { $0.ending != nil })
    let crashes = [SIGABRT, SIGTRAP, SIGILL, SIGSEGV].map { ChildProcess.Ending.signalled($0) }
    #expect(
      pty.ending == .signalled(SIGTERM) || crashes.contains { $0 == pty.ending }, "\(String(describing: pty.ending))")
    #expect(pty.waitUntil { $0.leftModes == [] && $0.modeNumbers == modes }, "left on: \(pty.leftModes)")
    #expect(eventually { ProcessTable.processes(with: marker).isEmpty })
  }

  // MARK: The clock

  private static let shim = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <stdlib.h>
    #include <sys/stat.h>
    #include <sys/time.h>
    #include <time.h>
    #include <unistd.h>
    static long offset(void) {
      const char *folder = getenv("JUMPS");
      char path[4096];
      struct stat status;
      if (!folder) return 0;
      snprintf(path, sizeof path, "%s/forward", folder);
      long jump = stat(path, &status) == 0 ? 86400 : 0;
      snprintf(path, sizeof path, "%s/back", folder);
      return stat(path, &status) == 0 ? -86400 : jump;
    }
    int clock_gettime(clockid_t clock, struct timespec *time) {
      static int (*real)(clockid_t, struct timespec *);
      if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
      int result = real(clock, time);
      if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) time->tv_sec += offset();
      return result;
    }
    int gettimeofday(struct timeval *time, void *zone) {
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      time->tv_sec = now.tv_sec;
      time->tv_usec = now.tv_nsec / 1000;
      return 0;
    }
    time_t time(time_t *result) {
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      if (result) *result = now.tv_sec;
      return now.tv_sec;
    }

    """
  private static let hasCompiler = (try? ChildProcess.run(["cc", "--version"]).ending) == .exited(0)

  /// Makes a library that lets the wall clock jump by a day once there is a file `forward` or `back`.
  private func makeClock() throws {
    try place.write("#include <stdio.h>\n" + Self.shim, to: "clock.c")
    let built = try place.script("exec cc -shared -fPIC -o clock.so clock.c -ldl")
    #expect(built.ending() == .exited(0), "\(built.errorText)")
  }

  @Test(
    .enabled(if: hasCompiler && !FaultHandling.isSanitized, "it needs a C compiler, and a build without sanitizer"))
  func aWallClockThatJumpsChangesNoTimeOfTheRun() throws {
    try makeClock()
    // It jumps while an attempt has a time limit, while a job backs off, and while a program executes.
    try place.write(
      """
      slots: 4
      jobs:
        limited: { run: "sleep 1.2", timeout: 1h }
        late: { run: "sleep 3600", timeout: 1500ms }
        again: { run: "[ -e back ] && exit 0; exit 1", retry: { max: 1000000, backoff: constant, initial: 100ms, jitter: false } }
        jump: { run: "sleep 0.3; date +%s; : >forward; date +%s; sleep 0.4; : >back; date +%s; sleep 0.3; date +%s >last" }
      """, to: "jump.yml")
    let path = place.folder.url.path
    let run = try place.run(
      "run", "jump.yml", "--ui", "json", environment: ["LD_PRELOAD": "\(path)/clock.so", "JUMPS": path])
    #expect(run.ending() == .exited(1), "\(run.errorText)")
    let events = try run.outputLines.map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    func texts(_ job: String) -> [Int] {
      events.filter { $0["job"] as? String == job }.compactMap { ($0["text"] as? String).flatMap { Int($0) } }
    }
    // The jumps were there.
    let seconds = texts("jump")
    #expect(seconds.count == 3 && seconds[1] - seconds[0] > 80_000 && seconds[2] - seconds[1] < -160_000, "\(seconds)")
    func end(_ job: String) -> [String: Any]? {
      events.last { $0["type"] as? String == "job_state" && $0["job"] as? String == job }
    }
    for job in ["limited", "again", "jump"] { #expect(end(job)?["state"] as? String == "succeeded", "\(job)") }
    #expect((end("late")?["reason"] as? String)?.hasPrefix("timed out") == true, "\(String(describing: end("late")))")
    let times = events.compactMap { ($0["t"] as? NSNumber)?.doubleValue }
    #expect(times == times.sorted() && times.count == events.count)
    // No jump of a day is in them.
    #expect(try #require(times.last) < 43_200)
    #expect(try #require((end("late")?["t"] as? NSNumber)?.doubleValue) >= 1.5)
  }

  // MARK: The reference

  private static var tables: String {
    func table(_ title: String, _ faults: [Fault], _ more: [[String]] = []) -> String {
      let rows = faults.map { fault in
        let seen = fault.seen.map { "`\($0.replacing("FOLDER", with: "/home/me"))`" } ?? "none"
        return [fault.testDescription, seen, "\(fault.status)", fault.kept.rawValue]
      }
      return articleTable(title, columns: ["Fault", "Message", "Status", "Kept"], rows + more)
    }
    return [
      table("Home and settings", homes), table("Disks", disks),
      table(
        "Surroundings", surroundings,
        [
          [
            "memory that runs out in a run", "the runtime's", "134 or 139",
            "what was written before, no process, and the terminal as it was",
          ],
          ["a wall clock that jumps", "none", "0", "all; no time of the run changes"],
        ]),
      TerminalEndTests.table,
    ].joined(separator: "\n")
  }

  /// The tables of the article on machines, recorded with OPDASH_RECORD=1 in the environment.
  @Test func theReferenceHasEveryFaultOfAMachine() throws {
    let article = "Sources/JobFiles/JobFiles.docc/MachineFaults.md"
    #expect(try faultOfTables(Self.tables, in: article, from: "## Home") == nil)
  }
}
