import Foundation
import Support
import Testing

@testable import opdash

/// The built program under the limits of a shell.
struct StartCheckTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    chmod(folder.url.path(), 0o777)
    try Data("jobs: { a: { run: echo said } }".utf8).write(to: folder.file("a.yml"))
  }

  private static let program = Built.product("opdash")

  /// Executes a script in which $opdash is the program and $run a run in the folder of the test.
  private func shell(
    _ script: String, as prefix: [String] = []
  ) throws -> (output: String, ending: ChildProcess.Ending?) {
    let (program, path) = (Self.program, folder.url.path())
    let environment = [
      "opdash": program, "run": "\(program) run \(path)/a.yml --ui plain --state \(path)/state", "HOME": path,
      "PATH": "/usr/local/bin:/usr/bin:/bin",
    ]
    // The tests before may have left descriptors open.
    let start = "exec 2>&1; cd \(path); for f in /dev/fd/*; do n=${f##*/}; [ $n -le 2 ] || eval \"exec $n>&-\"; done"
    return try ChildProcess.run(
      prefix + ["/bin/bash", "-c", "\(start); \(script)"],
      environment: environment.merging(FaultHandling.environment) { $1 })
  }

  /// Nothing may be started or made.
  private func expectRefusal(of script: String, from start: String, to end: String) throws {
    let (output, ending) = try shell(script)
    #expect(output.hasPrefix(start) && output.hasSuffix(end), "\(output)")
    #expect(ending == .exited(2))
    #expect(folder.names() == ["a.yml"])
  }

  @Test(arguments: [8, 12, 20])
  func tooFewDescriptorsAreToldBeforeAnythingIsStarted(limit: Int) throws {
    try expectRefusal(
      of: "ulimit -n \(limit); exec $run",
      from: "opdash: opdash opens \(StartCheck.descriptors) files and more, but may open only ",
      to: ": raise the limit with ulimit -n 256\n")
  }

  @Test func theFewestDescriptorsThatItStartsWithAreEnoughForAJob() throws {
    let (output, ending) = try shell("ulimit -n \(StartCheck.descriptors + 3); exec $run")
    #expect(output.contains("a | said"), "\(output)")
    #expect(ending == .exited(0))
  }

  @Test func aSoftLimitIsRaisedToTheHardOneFirst() throws {
    #expect(try shell("ulimit -S -n 8; exec $run").ending == .exited(0))
  }

  @Test(
    .enabled(if: isStrangerUsable, "root is under no limit of processes, and must be able to become another user"),
    arguments: [2, 4, 8])
  func tooFewThreadsAreToldBeforeAnythingIsStarted(limit: Int) throws {
    let (output, ending) = try shell("ulimit -u \(limit); exec $run", as: Self.stranger())
    #expect(output.hasPrefix("opdash: opdash starts \(StartCheck.threads) threads and more, but may start only "))
    #expect(output.contains(": raise the limit with ulimit -u 4096, "))
    #expect(ending == .exited(2))
  }

  /// Makes a program that of a user of its own: the limit of processes counts all those of a user.
  ///
  /// Without the check opdash would stand for ever.
  private static func stranger() -> [String] {
    let user = "\(Int.random(in: 20_000...60_000))"
    let bound = ["/usr/bin/timeout", "-k", "1", "\(Patience.seconds)"]
    return bound + ["/usr/bin/setpriv", "--reuid", user, "--regid", user, "--clear-groups"]
  }

  private static let isStrangerUsable =
    geteuid() == 0 && (try? ChildProcess.run(stranger() + [program, "--version"]).ending) == .exited(0)

  @Test(arguments: ["run a.yml", "get http://127.0.0.1:1/x", "demo diamond"])
  func aFolderThatHasBeenRemovedIsNoPlaceToRunJobs(command: String) throws {
    try expectRefusal(
      of: "mkdir gone; cd gone; rmdir ../gone; exec $opdash \(command) --state ../state",
      from: "opdash: the current folder no longer exists: ", to: "/gone: change to another with cd\n")
  }

  @Test func helpNeedsNoCurrentFolder() throws {
    #expect(try shell("mkdir gone; cd gone; rmdir ../gone; exec $opdash --version").ending == .exited(0))
  }

  /// A job file of forty jobs that all want to run at once, until one fails.
  private func writeManyJobs() throws {
    let jobs = (0..<40).map { "  j\($0): { run: sleep 3600 }\n" }.joined()
    try Data("on_failure: stop-now\njobs:\n\(jobs)".utf8).write(to: folder.file("a.yml"))
  }

  @Test func aJobForWhichNoDescriptorIsLeftFailsWithTheMend() throws {
    try writeManyJobs()
    let (output, ending) = try shell("ulimit -n 48; exec $run -j 40")
    #expect(output.contains("failed: /bin/sh: no file descriptor left: use fewer slots, or raise ulimit -n"))
    #expect(ending == .exited(1))
  }

  @Test(.enabled(if: isStrangerUsable, "root is under no limit of processes, and must be able to become another user"))
  func aJobForWhichNoProcessIsLeftFailsWithTheMend() throws {
    try writeManyJobs()
    let (output, ending) = try shell("ulimit -u 24; exec $run -j 40", as: Self.stranger())
    #expect(
      output.contains("failed: /bin/sh: no process or memory left: use fewer slots, or raise ulimit -u"), "\(output)")
    #expect(ending == .exited(1))
  }

  @Test(.enabled(if: !FaultHandling.isSanitized, "a sanitizer takes more memory than the line"))
  func aLineWithoutEndTakesNoMemory() throws {
    let script = "head -c 67108864 /dev/zero | tr '\\0' x; echo; grep VmHWM /proc/$PPID/status"
    try Data("jobs:\n  a:\n    run: |\n      \(script)\n".utf8).write(to: folder.file("a.yml"))
    let (output, ending) = try shell("exec $run")
    #expect(ending == .exited(0))
    let peak = output.firstRange(of: "VmHWM:").flatMap { range in
      Int(output[range.upperBound...].drop { $0 == " " || $0 == "\t" }.prefix { $0.isNumber })
    }
    // In kB: the program alone takes some 40 MB in a debug build, and the line 64 MB.
    #expect(try #require(peak, "\(output.suffix(300))") < 80 << 10)
  }
}
