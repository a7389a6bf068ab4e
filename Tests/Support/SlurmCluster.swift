import Foundation
import Slurm

/// A controller and nodes of the test's own on loopback, gone with all their jobs when the value is, or when the test's
/// process dies however it dies.
package final class SlurmCluster: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Whether the programs of Slurm, its daemons and its plugin for tests are there.
  package static let isInstalled: Bool = {
    let path = (ProcessInfo.processInfo.environment["PATH"] ?? "") + ":/usr/sbin:/sbin"
    return ["slurmctld", "slurmd", "sbatch", "squeue"].allSatisfy { program in
      path.split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
    }
  }()

  package static let why = "Slurm is not installed: slurm-wlm, slurm-client, slurm-wlm-basic-plugins"

  /// For tests that kill nothing but their own jobs; it ends with the process.
  package static let shared = Result { try SlurmCluster() }

  package let folder: TemporaryFolder
  private let process: ChildProcess
  private let lifeline: Int32

  /// Nodes are node1, node2 and so on, by default in one partition; `lines` are further ones of slurm.conf.
  package init(nodes: Int = 3, cpus: Int = 2, partitions: [String]? = nil, lines: [String] = []) throws {
    folder = try TemporaryFolder()
    for name in ["state", "log", "pid"] + (1...nodes).map({ "spool/node\($0)" }) {
      try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
    }
    let base = folder.url.path().hasSuffix("/") ? String(folder.url.path().dropLast()) : folder.url.path()
    let ports = try (0...nodes).map { _ in try Loopback.freePort() }
    let text = Self.configuration(base, ports, cpus, partitions ?? [Self.partition], lines)
    try Data(text.utf8).write(to: folder.file("slurm.conf"))
    var ends: [Int32] = [0, 0]
    guard Self.pair(&ends) else { throw Failure(description: "no socket pair") }
    defer { close(ends[0]) }
    let output = open("\(base)/log/out", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(output) }
    process = try ChildProcess(
      ["/bin/sh", "-c", Self.script(base, nodes)], descriptors: [ends[0], output, output], leadsGroup: true)
    lifeline = ends[1]
    let isUp = eventually {
      // A node is listed once for each partition.
      let names = (try? call("sinfo", "-h", "-N", "-t", "idle", "-o", "%N"))?.split(separator: "\n") ?? []
      return Set(names).count == nodes
    }
    guard isUp else {
      let log = (try? String(contentsOf: folder.file("log/slurmctld.log"), encoding: .utf8)) ?? ""
      throw Failure(description: "the cluster does not start: \(log.suffix(1000))")
    }
  }

  deinit {
    close(lifeline)
    _ = process.ending(waiting: true)
  }

  private static let partition = "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP"

  private static func pair(_ ends: inout [Int32]) -> Bool {
    return socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
  }

  /// Starts daemons at the word of this process, and kills them and their jobs when its input ends.
  private static func script(_ base: String, _ nodes: Int) -> String {
    """
    exec 3<&0 </dev/null
    PATH=$PATH:/usr/sbin:/sbin
    export SLURM_CONF='\(base)/slurm.conf'
    start() {
      if [ "$1" = controller ]; then slurmctld -D 3<&- & else slurmd -D -N "$1" 3<&- & fi
      echo $! >'\(base)/pid/'"$1.new" && mv '\(base)/pid/'"$1.new" '\(base)/pid/'"$1"
    }
    start controller
    for node in $(seq \(nodes)); do start "node$node"; done
    while read -r name <&3; do start "$name"; done
    for round in 1 2 3; do
      for match in $(grep -slFzx "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ); do
        number=${match#/proc/}
        kill -9 "${number%/environ}" 2>/dev/null
      done
    done
    rm -rf '\(base)'
    """
  }

  private static func configuration(
    _ base: String, _ ports: [UInt16], _ cpus: Int, _ partitions: [String], _ lines: [String]
  ) -> String {
    var host = [CChar](repeating: 0, count: 256)
    gethostname(&host, host.count)
    let name = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let short = name.split(separator: ".").first.map(String.init) ?? "localhost"
    let nodes = ports.indices.dropFirst().map { number in
      "NodeName=node\(number) NodeHostname=\(short) NodeAddr=127.0.0.1 Port=\(ports[number]) CPUs=\(cpus) RealMemory=1000"
    }
    let user = NSUserName()
    let text = """
      ClusterName=test
      SlurmctldHost=\(short)(127.0.0.1)
      SlurmctldPort=\(ports[0])
      SlurmUser=\(user)
      SlurmdUser=\(user)
      AuthType=auth/none
      CredType=cred/none
      StateSaveLocation=\(base)/state
      SlurmdSpoolDir=\(base)/spool/%n
      SlurmctldPidFile=\(base)/pid/slurmctld.pid
      SlurmdPidFile=\(base)/pid/slurmd.%n.pid
      SlurmctldLogFile=\(base)/log/slurmctld.log
      SlurmdLogFile=\(base)/log/slurmd.%n.log
      ProctrackType=proctrack/linuxproc
      TaskPlugin=task/none
      SwitchType=switch/none
      MpiDefault=none
      MailProg=/bin/true
      JobAcctGatherType=jobacct_gather/none
      AccountingStorageType=accounting_storage/none
      SelectType=select/cons_tres
      SelectTypeParameters=CR_Core
      SlurmdParameters=config_overrides
      SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1,sched_interval=1
      ReturnToService=2
      SlurmdTimeout=60
      MessageTimeout=10
      KillWait=2
      MinJobAge=300
      """
    return ([text] + lines + nodes + partitions).joined(separator: "\n") + "\n"
  }

  // MARK: Asking

  package var environment: [String: String] { ["SLURM_CONF": folder.file("slurm.conf").path()] }

  package var runner: SystemSlurmRunner { SystemSlurmRunner(environment: environment) }

  /// Calls a program of Slurm and returns its output.
  @discardableResult
  package func call(_ arguments: String...) throws -> String {
    let all = ProcessInfo.processInfo.environment.merging(environment) { _, own in own }
    return try ChildProcess.run(["/bin/sh", "-c", "\"$@\" 2>/dev/null", "sh"] + arguments, environment: all).output
  }

  /// The states of all jobs whose comment has a text, by number.
  package func states(_ comment: String = "opdash/") -> [String] {
    let lines = (try? call("squeue", "-h", "-r", "-t", "all", "-o", "%i %T %k"))?.split(separator: "\n") ?? []
    return lines.filter { $0.contains(comment) }.compactMap {
      $0.split(separator: " ").dropFirst().first.map(String.init)
    }
  }

  // MARK: Failures

  /// Kills the controller, or the daemon of a node, and waits until it is gone.
  package func killDaemon(_ name: String) {
    let text = (try? String(contentsOf: folder.file("pid/\(name)"), encoding: .utf8)) ?? ""
    guard let pid = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) else { return }
    kill(pid, SIGKILL)
    _ = eventually {
      let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? "State:\tZ"
      return status.contains("State:\tZ")
    }
  }

  /// Starts the controller, or the daemon of a node.
  package func startDaemon(_ name: String) {
    let line = Array("\(name)\n".utf8)
    _ = line.withUnsafeBytes { write(lifeline, $0.baseAddress, $0.count) }
  }

  /// Ends a node as the loss of the machine would: its daemon and all of a job's processes, of which none reports anything.
  package func loseNode(_ name: String, with id: some CustomStringConvertible) {
    killDaemon(name)
    var programs: [pid_t] = []
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
      guard let pid = pid_t(name), pid != getpid() else { continue }
      let command = Self.text("/proc/\(name)/cmdline")
      let variables = Self.text("/proc/\(name)/environ").split(separator: "\0")
      guard variables.contains("SLURM_CONF=\(folder.file("slurm.conf").path())"[...]) else { continue }
      if command.hasPrefix("slurmstepd: [\(id).") {
        kill(pid, SIGKILL)
      } else if variables.contains("SLURM_JOB_ID=\(id)"[...]) {
        programs.append(pid)
      }
    }
    // Afterwards, so that no daemon reports their ends.
    for pid in programs { kill(pid, SIGKILL) }
  }

  private static func text(_ path: String) -> String {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
