import Foundation
import Support

/// The files of a round, and how opdash is started on them.
struct SoakLaunch {
  private(set) var command: [String]
  private(set) var environment: [String: String]

  init(_ plan: SoakPlan, mark: String, program: String, server: SoakServer, in folder: TemporaryFolder) throws {
    let json = try JSONSerialization.data(withJSONObject: plan.file, options: [.sortedKeys, .withoutEscapingSlashes])
    let text = String(decoding: json, as: UTF8.self).replacing("%", with: mark).replacing("@", with: server.address)
    try Data(text.utf8).write(to: folder.file("jobs.json"))
    for job in plan.jobs where job.kind == .upload {
      try Data(count: 100_000).write(to: folder.file("\(job.name).up"))
    }
    var words = [program, "run", "jobs.json", "--ui", plan.interface.option]
    if plan.hasTrace { words += ["--trace", "trace.json"] }
    let limit = plan.fileLimit.map { "ulimit -f \($0); " } ?? ""
    command = ["sh", "-c", "cd \"$0\" && \(limit)exec \"$@\"", folder.url.path] + words
    if plan.hasShell {
      // As a person, who does something else after ^Z; without a program for it, which another ^Z would stop.
      mkfifo(folder.file("pause").path, 0o600)
      let script = """
        trap : INT QUIT; cd "$0"
        # No loop, because a program that is stopped in one ends it.
        back() {
          jobs -sp >stopped
          if [ -s stopped ]; then read -t 0.03 _ <>pause; fg >/dev/null; status=$?; back; fi
        }
        \(limit)"$@"; status=$?; back; exit $status
        """
      command = ["bash", "--norc", "--noprofile", "-i", "-c", script, folder.url.path] + words
    }
    environment = [
      "HOME": folder.url.path, "XDG_STATE_HOME": folder.file("state").path, "LC_ALL": "C.UTF-8",
      "XDG_CONFIG_HOME": folder.file("config").path, "PATH": "/usr/local/bin:/usr/bin:/bin",
      "TERM": "xterm-256color", SoakProcesses.variable: mark, "SWIFT_BACKTRACE": "",
    ]
    if FaultHandling.isSanitized { environment.merge(FaultHandling.environment) { $1 } }
  }
}
