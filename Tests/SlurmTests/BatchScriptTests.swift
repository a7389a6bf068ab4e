import Foundation
import Support
import Testing

@testable import Slurm

/// The scripts, executed by this machine's shell.
@Suite struct BatchScriptTests {
  private let folder: TemporaryFolder
  private let files: SlurmFiles

  init() throws {
    folder = try TemporaryFolder()
    files = SlurmFiles(folder: folder.file("jobs").path())
  }

  private func job(_ arguments: [String], environment: [String: String] = [:], name: String = "a") -> SlurmJob {
    SlurmJob(
      SlurmIdentity(run: "r", job: name, attempt: 1), name: name, arguments: arguments, directory: folder.url.path(),
      environment: environment)
  }

  private func run(_ text: String, _ variables: [String: String] = ["SLURM_JOB_ID": "12"]) throws -> ChildProcess
    .Ending?
  {
    let environment = ProcessInfo.processInfo.environment.merging(variables) { _, own in own }
    return try ChildProcess.run(["/bin/sh", "-c", text], environment: environment).ending
  }

  private func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

  @Test func aScriptKeepsItsOutputAndItsStatus() throws {
    let job = job(["/bin/sh", "-c", "pwd; echo \"$A\"; echo err >&2; exit 3"], environment: ["A": "it's $HOME"])
    #expect(try run(BatchScript.text(of: job, files: files)) == .exited(3))
    let place = folder.url.path().hasSuffix("/") ? String(folder.url.path().dropLast()) : folder.url.path()
    #expect(text(files.outputPath(of: job.identity)) == "\(place)\nit's $HOME\nerr\n")
    #expect(files.exit(of: job.identity)?.status == 3)
    #expect(files.claim(of: job.identity) == SlurmJobID(12))
  }

  @Test func argumentsReachTheProgramAsTheyAre() throws {
    let words = ["a b", "", "$HOME", "it's", "`id`", "*", "line\nfeed", "\\"]
    let job = job(["printf", "%s|"] + words)
    #expect(try run(BatchScript.text(of: job, files: files)) == .exited(0))
    #expect(text(files.outputPath(of: job.identity)) == words.map { $0 + "|" }.joined())
  }

  @Test func anAttemptIsExecutedOnceHoweverOftenItIsSubmitted() throws {
    let job = job(["echo", "work"])
    let script = BatchScript.text(of: job, files: files)
    #expect(try run(script) == .exited(0))
    #expect(try run(script, ["SLURM_JOB_ID": "13"]) == .exited(BatchScript.duplicateStatus))
    #expect(text(files.outputPath(of: job.identity)) == "work\n")
    #expect(files.claim(of: job.identity) == SlurmJobID(12))
  }

  @Test func aJobThatSlurmRestartsIsExecutedAgain() throws {
    let job = job(["/bin/sh", "-c", "echo work; exit 3"])
    let script = BatchScript.text(of: job, files: files)
    #expect(try run(script) == .exited(3))
    #expect(try run(script, ["SLURM_JOB_ID": "12", "SLURM_RESTART_COUNT": "1"]) == .exited(3))
    #expect(text(files.outputPath(of: job.identity)) == "work\nwork\n")
    #expect(files.exit(of: job.identity)?.status == 3)
    // Neither the same start once more nor another job, however often that was restarted.
    let duplicate = ChildProcess.Ending.exited(BatchScript.duplicateStatus)
    #expect(try run(script) == duplicate)
    #expect(try run(script, ["SLURM_JOB_ID": "13", "SLURM_RESTART_COUNT": "1"]) == duplicate)
  }

  @Test func anAttemptThatWasWithdrawnIsNotExecuted() throws {
    let job = job(["echo", "work"])
    #expect(files.makeFolder() == nil)
    #expect(files.withdraw(job.identity))
    #expect(files.isWithdrawn(job.identity))
    #expect(
      try run(BatchScript.text(of: job, files: files), ["SLURM_JOB_ID": "12", "SLURM_RESTART_COUNT": "1"])
        == .exited(BatchScript.duplicateStatus))
    #expect(text(files.outputPath(of: job.identity)).isEmpty)
  }

  @Test func anAttemptIsExecutedWhereItsClaimCanBeMadeButNotWritten() throws {
    let job = job(["echo", "work"])
    #expect(files.makeFolder() == nil)
    #expect(symlink("/dev/full", files.path(of: job.identity) + ".claim") == 0)
    #expect(try run(BatchScript.text(of: job, files: files)) == .exited(0))
    #expect(text(files.outputPath(of: job.identity)) == "work\n")
  }

  @Test func theVariablesOfAProgramAreNotThoseOfItsScript() throws {
    let job = job(["/bin/sh", "-c", "echo \"$PATH\"; exit 4"], environment: ["PATH": "/none", "IFS": "0123456789"])
    #expect(try run(BatchScript.text(of: job, files: files)) == .exited(4))
    #expect(text(files.outputPath(of: job.identity)) == "/none\n")
    #expect(files.exit(of: job.identity)?.status == 4)
  }

  @Test func aScriptNotesThatItWasToldToEnd() throws {
    // The script starts a second process when it has the signal.
    let isTold = #"[ "$(grep -ls "^PPid:.$PPID$" /proc/[0-9]*/status | wc -l)" -gt 1 ]"#
    let job = job(["/bin/sh", "-c", "kill -TERM $PPID; until \(isTold); do sleep 0.05; done"])
    #expect(try run(BatchScript.text(of: job, files: files)) == .exited(0))
    let exit = try #require(files.exit(of: job.identity))
    #expect(exit.status == 0)
    #expect(exit.wasStopped)
    let other = self.job(["true"], name: "b")
    #expect(try run(BatchScript.text(of: other, files: files)) == .exited(0))
    #expect(files.exit(of: other.identity)?.wasStopped == false)
  }

  @Test(arguments: ["kill -TERM $$\nopdash_process=$!", "opdash_process=$!\nkill -TERM $$"])
  func aScriptThatIsToldToEndBeforeItWaitsLooksForTheKill(_ lines: String) throws {
    let job = job(["/bin/sh", "-c", "sleep 600"])
    let script = BatchScript.text(of: job, files: files).replacing("opdash_process=$!", with: lines)
    #expect(files.makeFolder() == nil)
    #expect(FileManager.default.createFile(atPath: files.path(of: job.identity) + ".kill", contents: nil))
    // In a group of its own, all of which it kills.
    #expect(try run("exec setsid -w /bin/sh -c \(script.shellQuoted)") != .exited(0))
  }

  /// Slurm may tell the script to end while it writes the status.
  @Test func aScriptThatIsToldToEndAfterItsProgramLeavesNothing() throws {
    let job = job(["true"])
    let note = "{ echo \"$opdash_status"
    let script = BatchScript.text(of: job, files: files).replacing(note, with: "kill -TERM $$\n\(note)")
    let child = try ChildProcess(
      ["/bin/sh", "-c", script],
      environment: ProcessInfo.processInfo.environment.merging(["SLURM_JOB_ID": "12"]) { $1 },
      leadsGroup: true)
    defer { kill(-child.pid, SIGKILL) }
    #expect(child.ending(waiting: true) == .exited(0))
    #expect(kill(-child.pid, 0) != 0)
    #expect(files.exit(of: job.identity)?.status == 0)
    #expect(files.exit(of: job.identity)?.wasStopped == false)
  }

  /// As `--signal=B:USR1@50` does, which tells nothing but the script.
  @Test(
    arguments: [
      ("--signal=B:USR1@50", SIGTERM, "USR1"), ("--signal=B:USR2", SIGTERM, "USR2"),
      ("--sig=b:sigusr1@9", SIGUSR2, "USR1"),
      ("--signal=RB:10@50", SIGTERM, "USR1"), ("--signal=B:HUP@1", SIGINT, "HUP"),
    ] as [(String, Int32, String)])
  func aScriptPassesTheWarningOfItsTimeLimitOn(option: String, stop: Int32, signal: String) throws {
    var job = job([
      "/bin/sh", "-c", "trap 'echo warned; exit 5' \(signal); kill -\(signal) $PPID; while :; do sleep 0.05; done",
    ])
    job.resources.options = [option]
    job.stop = SlurmJob.Stop(signal: stop)
    #expect(job.problem == nil)
    // In a group of its own, which the script may kill.
    let script = BatchScript.text(of: job, files: files)
    #expect(try run("exec setsid -w /bin/sh -c \(script.shellQuoted)") == .exited(5))
    #expect(text(files.outputPath(of: job.identity)) == "warned\n")
    #expect(files.exit(of: job.identity)?.wasStopped == false)
  }

  @Test func theKillOfAScriptIsNoSignalOfItsProgram() {
    var job = job(["true"])
    var signals: [String] = []
    for (option, stop) in [("B:USR2", SIGTERM), ("B:USR1", SIGTERM), ("B:USR1", SIGUSR2), ("USR2", SIGTERM)] {
      job.resources.options = ["--signal=\(option)@60"]
      job.stop = SlurmJob.Stop(signal: stop)
      signals.append(BatchScript.killSignal(of: job))
    }
    #expect(signals == ["USR1", "USR2", "HUP", "USR2"])
  }

  @Test func aScriptNotesHowLongItsProgramTook() throws {
    // In the place of the node's clock.
    let uptime = folder.file("uptime").path()
    try "100.00 8.5\n".write(toFile: uptime, atomically: true, encoding: .utf8)
    let job = job(["/bin/sh", "-c", "echo 103.25 8.5 >uptime"])
    let script = BatchScript.text(of: job, files: files).replacing("/proc/uptime", with: uptime.shellQuoted)
    #expect(try run(script) == .exited(0))
    #expect(files.exit(of: job.identity)?.took == .milliseconds(3250))
  }

  @Test(arguments: [
    ("0 12 7.5 9.25\n", SlurmFiles.Exit(status: 0, took: .milliseconds(1750), wasStopped: false)),
    ("143 12 7.5 9.25 stopped\n", .init(status: 143, took: .milliseconds(1750), wasStopped: true)),
    ("3 12   stopped\n", .init(status: 3, took: nil, wasStopped: true)),
    ("3 12\n", .init(status: 3, took: nil, wasStopped: false)),
    ("3 12 9 8 \n", .init(status: 3, took: nil, wasStopped: false)),
    ("3 12 nan inf \n", .init(status: 3, took: nil, wasStopped: false)),
    ("3 12 123456789.01 123456789.08 \n", .init(status: 3, took: .milliseconds(70), wasStopped: false)),
    ("3 12 1.0", nil),
    ("\n", nil),
  ])
  func whatAScriptNotesAtItsEndIsRead(text: String, exit: SlurmFiles.Exit?) throws {
    let job = job(["true"])
    #expect(files.makeFolder() == nil)
    try text.write(toFile: files.path(of: job.identity) + ".exit", atomically: true, encoding: .utf8)
    #expect(files.exit(of: job.identity) == exit)
  }

  @Test func anArrayWhoseScriptCannotBeReadHasAStatusOfItsOwn() throws {
    let variables = ["SLURM_JOB_ID": "14", "SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "1"]
    #expect(
      try run(BatchScript.text(ofBatch: "none", files: files), variables) == .exited(BatchScript.unreadStatus))
  }

  @Test func aSignalIsAStatusAsShellsReportIt() throws {
    let job = job(["/bin/sh", "-c", "kill -9 $$"])
    #expect(try run(BatchScript.text(of: job, files: files)) == .exited(137))
    #expect(SlurmEnd(shellStatus: files.exit(of: job.identity)?.status ?? 0) == .signalled(9))
  }

  @Test func aProgramThatIsNotThereIsNamedInTheOutput() throws {
    let job = job(["no-such-program-here"])
    #expect(try run(BatchScript.text(of: job, files: files)) == .exited(127))
    #expect(text(files.outputPath(of: job.identity)).contains("no-such-program-here"))
  }

  /// A shell has what it starts in the background ignore them.
  @Test func aProgramBeginsWithTheUsualSignals() throws {
    let job = job(["/bin/sh", "-c", "grep SigIgn /proc/$$/status"])
    #expect(try run(BatchScript.text(of: job, files: files)) == .exited(0))
    let mask = UInt64(
      text(files.outputPath(of: job.identity)).split(whereSeparator: \.isWhitespace).last ?? "", radix: 16)
    let ignored = try #require(mask)
    for signal in [SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2] { #expect(ignored & 1 << (signal - 1) == 0) }
  }

  @Test func aProgramWhoseNameLooksLikeAVariableIsExecuted() throws {
    let program = folder.file("a=b").path()
    #expect(symlink("/bin/echo", program) == 0)
    let job = job([program, "c=d"])
    #expect(try run(BatchScript.text(of: job, files: files)) == .exited(0))
    #expect(text(files.outputPath(of: job.identity)) == "c=d\n")
  }

  @Test func aJobOfAnArrayExecutesTheScriptOfItsIndex() throws {
    #expect(files.makeFolder() == nil)
    let jobs = (0..<3).map { job(["echo", "work \($0)"], name: "b[\($0)]") }
    for (index, job) in jobs.enumerated() {
      #expect(
        files.write(
          BatchScript.text(of: job, isInArray: true, files: files), to: files.path(ofScript: index, batch: "x")) == nil)
    }
    let list = jobs.map { $0.identity.fileName + "\n" }.joined()
    #expect(files.write(list, to: files.path(ofBatch: "x")) == nil)
    let variables = ["SLURM_JOB_ID": "14", "SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "1"]
    #expect(try run(BatchScript.text(ofBatch: "x", files: files), variables) == .exited(0))
    #expect(text(files.outputPath(of: jobs[1].identity)) == "work 1\n")
    #expect(files.claim(of: jobs[1].identity) == SlurmJobID(12, index: 1))
    #expect(!files.hasClaim(of: jobs[0].identity))
    #expect(files.batch(named: "x", run: "r") == jobs.map(\.identity))
  }

  @Test(arguments: [true, false])
  func theFolderIsTheOwnersAlone(isMadeHere: Bool) throws {
    if isMadeHere { #expect(files.makeFolder() == nil) }
    #expect(try run(BatchScript.text(of: job(["true"]), files: files)) == .exited(0))
    let attributes = try FileManager.default.attributesOfItem(atPath: files.folder)
    #expect(attributes[.posixPermissions] as? Int == 0o700)
  }

  @Test func theScriptOfAnArrayExecutesThatOfItsIndex() {
    #expect(
      BatchScript.text(ofBatch: "x", files: SlurmFiles(folder: "/it's")) == """
        #!/bin/sh
        opdash_script='/it'\\''s'/x.$SLURM_ARRAY_TASK_ID.sh
        [ -r "$opdash_script" ] || exit 76
        . "$opdash_script"

        """)
  }

  /// Another process, perhaps of another version, reads the status.
  @Test func aScriptWhoseAttemptIsClaimedExitsWith75() {
    let lines = BatchScript.text(of: job(["true"]), files: files).split(separator: "\n")
    #expect(lines.contains { $0.hasSuffix("|| exit 75") })
    #expect(lines.contains("opdash_id=$SLURM_JOB_ID"))
    let inArray = BatchScript.text(of: job(["true"]), isInArray: true, files: files).split(separator: "\n")
    #expect(inArray.contains("opdash_id=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"))
  }

  @Test(
    arguments: [
      (SIGTERM, "TERM", "USR2"), (SIGKILL, "TERM", "USR2"), (SIGINT, "TERM INT", "USR2"),
      (SIGUSR2, "TERM USR2", "USR1"), (SIGUSR1, "TERM USR1", "USR2"),
    ] as [(Int32, String, String)])
  func aScriptOutlivesTheSignalsThatStopItsProgram(signal: Int32, stops: String, kill: String) {
    var job = job(["true"])
    job.stop = SlurmJob.Stop(signal: signal)
    let lines = BatchScript.text(of: job, files: files).split(separator: "\n")
    #expect(lines.contains("trap opdash_told \(stops)"))
    #expect(lines.contains("trap 'kill -9 0' \(kill)"))
    #expect(lines.contains("  trap - \(stops) \(kill)"))
  }

  @Test(
    arguments: [
      (SlurmJob.Stop(), true), (SlurmJob.Stop(grace: .milliseconds(5001)), false), (SlurmJob.Stop(grace: .zero), true),
      (SlurmJob.Stop(signal: SIGINT), false),
    ] as [(SlurmJob.Stop, Bool)])
  func onlyTheUsualStopIsLeftToSlurm(stop: SlurmJob.Stop, isLeft: Bool) {
    #expect(stop.isDefault == isLeft)
  }

  @Test func aQuoteBeforeACombiningMarkEndsNoWord() throws {
    let value = "'\u{301}; touch hacked; '"
    let job = job(["/bin/sh", "-c", "printf %s \"$A\"", "'\u{301}; touch hacked; '"], environment: ["A": value])
    #expect(try run(BatchScript.text(of: job, files: files)) == .exited(0))
    #expect(text(files.outputPath(of: job.identity)) == value)
    #expect(!folder.names(in: "").contains("hacked"))
  }
}
