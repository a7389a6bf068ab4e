import Basics

/// The work of one attempt; paths are absolute.
///
/// Indirect, because a run copies its jobs often.
package indirect enum JobWork: Sendable, Equatable {
  case shell(ShellWork)
  case download(DownloadWork)
  case upload(UploadWork)
  case simulate(SimulatedWork)
  /// An operation of the program's own queue.
  case operation(OperationWork)

  /// The service settings of a program that other jobs need running rather than ended.
  package var service: Service? {
    if case .shell(let work) = self { work.service } else { nil }
  }

  /// The name of the kind in events and job files.
  package var kind: String {
    switch self {
    case .shell: "shell"
    case .download: "download"
    case .upload: "upload"
    case .simulate: "simulate"
    case .operation(let work): work.kind
    }
  }
}

package struct ShellWork: Sendable, Equatable {
  package enum Command: Sendable, Equatable {
    /// Given to `ShellWork.shell`.
    case script(String)
    /// A program, found through PATH, and its arguments.
    case argv([String])
  }

  package typealias Stop = ProgramStop

  /// Where its standard error goes.
  package enum Stderr: String, Sendable, CaseIterable {
    /// Into the stream of its standard output, so that all lines keep the order of the writes.
    case together
    /// Into a stream of its own, so that its lines are known as such.
    case apart
  }

  /// How it shares the run's slots with the programs that it starts.
  package enum Jobserver: Sendable, Equatable {
    case none
    /// By descriptors, as make passes them on before 4.4, and cargo takes them.
    case descriptors
    /// By the path of a FIFO, as make takes it from 4.4 and ninja from 1.13 on.
    case fifo
  }

  package var command: Command
  package var directory: String?
  /// Added to opdash's own environment.
  package var environment: [String: String]
  package var stop: Stop
  /// A regular expression over each line of output, with one group (per cent) or two (done, total).
  package var progress: String?
  /// The words of the command line before a script.
  package var shell: [String]
  /// Whether it gets a pseudo-terminal, as a program that a person starts.
  package var hasTerminal: Bool
  /// Ignored with a terminal, and for a job of the cluster that is not a step: both have one stream.
  package var stderr: Stderr
  package var jobserver = Jobserver.none
  /// How long it may write nothing before its attempt is stopped.
  package var silence: Duration?
  /// The service settings of a program that other jobs need running rather than ended.
  package var service: Service? {
    get { serving?.value }
    set { serving = newValue.map { Shared($0) } }
  }
  // Few jobs have one of these.
  private var serving: Shared<Service>?
  private var requested: Shared<ClusterRequest>?
  /// The engine that executes the program.
  package var engine = Engine.local
  /// The resources that the program requests if a cluster executes it.
  package var clusterRequest: ClusterRequest {
    get { requested?.value ?? Self.noRequest }
    set { requested = newValue == Self.noRequest ? nil : Shared(newValue) }
  }
  private static let noRequest = ClusterRequest()

  /// The cluster resources of the program; nil on this machine.
  package var cluster: ClusterRequest? { engine == .cluster ? clusterRequest : nil }

  package static let standardShell = ["/bin/sh", "-e", "-c"]

  package init(
    _ command: Command, directory: String? = nil, environment: [String: String] = [:], stop: Stop = Stop(),
    progress: String? = nil, shell: [String] = standardShell, hasTerminal: Bool = false,
    stderr: Stderr = .together, silence: Duration? = nil, service: Service? = nil, cluster: ClusterRequest? = nil
  ) {
    self.command = command
    self.directory = directory
    self.environment = environment
    self.stop = stop
    self.progress = progress
    self.shell = shell
    self.hasTerminal = hasTerminal
    self.stderr = stderr
    self.silence = silence
    self.service = service
    if let cluster { (engine, clusterRequest) = (.cluster, cluster) }
  }

  /// The command as text.
  package var summary: String {
    switch command {
    case .script(let text): text
    case .argv(let words): words.joined(separator: " ")
    }
  }
}

package struct DownloadWork: Sendable, Equatable {
  /// How a download treats an existing file.
  package enum Existing: String, Sendable, CaseIterable {
    /// The file stays, and the new one gets a number, unless the server has the same file.
    case number
    case skip
    case overwrite
  }

  package var url: String
  package var file: String
  /// Lower-case hexadecimal.
  package var sha256: String?
  /// Whether an interrupted transfer resumes at the byte where it broke.
  package var resume: Bool
  package var headers: [String: String]
  package var existing: Existing
  /// Whether the server may choose the file's name.
  package var usesServerName: Bool
  /// The time without a moved byte after which it fails; zero for no limit.
  package var stall: Duration

  package init(
    url: String, file: String, sha256: String? = nil, resume: Bool = true, headers: [String: String] = [:],
    existing: Existing = .overwrite, usesServerName: Bool = false, stall: Duration = standardStall
  ) {
    self.url = url
    self.file = file
    self.sha256 = sha256
    self.resume = resume
    self.headers = headers
    self.existing = existing
    self.usesServerName = usesServerName
    self.stall = stall
  }

  package static let standardStall = Duration.seconds(300)
}

package struct UploadWork: Sendable, Equatable {
  package var file: String
  package var url: String
  package var method: String
  package var headers: [String: String]
  /// The time without a moved byte after which it fails; zero for no limit.
  package var stall: Duration

  package init(
    file: String, url: String, method: String = "PUT", headers: [String: String] = [:],
    stall: Duration = DownloadWork.standardStall
  ) {
    self.file = file
    self.url = url
    self.method = method
    self.headers = headers
    self.stall = stall
  }
}

/// Work that only takes time; the same seed gives the same events.
package struct SimulatedWork: Sendable, Equatable {
  package var duration: Duration
  package var steps: Int
  /// The probability that an attempt fails, from 0 to 1.
  package var failRate: Double
  package var seed: UInt64

  package init(duration: Duration = .zero, steps: Int = 1, failRate: Double = 0, seed: UInt64 = 0) {
    self.duration = duration
    self.steps = steps
    self.failRate = failRate
    self.seed = seed
  }
}

extension ShellWork {
  /// Whether a cluster can execute it: it has neither a terminal nor a service, which runs beside the jobs that need it.
  package var canLeaveMachine: Bool { service == nil && !hasTerminal }
}

extension JobWork {
  /// Why the job doesn't support an action; nil if it does.
  package func refusal(of ability: JobAbility) -> String? {
    guard case .operation(let work) = self else { return ability == .showStack ? stacklessness : nil }
    switch ability {
    case .pause: return work.canPause ? nil : "\(work.className) has no way to pause; P holds back unstarted jobs"
    case .retry: return work.canRetry ? nil : "an operation runs once; the program has to add a new one"
    case .kill: return "an operation of this program can only be asked to end: x cancels"
    case .showStack: return nil
    }
  }

  private var stacklessness: String {
    if case .shell = self { return "a command runs in a process of its own; a debugger shows where that stands" }
    return "no thread executes this job: it waits for events only"
  }
}
