import Foundation
import Operations
import Support

@testable import Slurm

/// Operations in a queue, on a cluster, with their logs.
final class ClusterRun: Sendable {
  let cluster: SlurmCluster
  let observer: SlurmObserver
  let folder: TemporaryFolder
  let name: String
  private let queue = OperationQueue()
  private let logs = Lock<[String: [String]]>([:])
  private let tokens = Lock<[ObservationToken]>([])
  private let told = Lock<[String: [SlurmStatus]]>([:])
  private let lines = DispatchQueue(label: "test.lines")

  /// `programs` are scripts for sh that are called in the place of Slurm's programs of their names.
  init(_ cluster: SlurmCluster, after other: ClusterRun? = nil, programs: [String: String] = [:]) throws {
    self.cluster = cluster
    folder = try other?.folder ?? TemporaryFolder()
    name = other?.name ?? "run-\(UUID().uuidString.prefix(8))"
    var environment = cluster.environment
    for (name, script) in programs {
      try FileManager.default.createDirectory(at: folder.file("bin"), withIntermediateDirectories: true)
      try folder.addProgram("bin/\(name)", "#!/bin/sh\n\(script)\n")
      environment["PATH"] = "\(folder.file("bin").path()):/usr/local/bin:/usr/bin:/bin"
    }
    observer = SlurmObserver(
      run: name, folder: folder.file("jobs").path(), runner: SystemSlurmRunner(environment: environment))
    queue.maxConcurrentOperationCount = 1000
  }

  func operation(
    _ name: String, _ script: String, _ resources: SlurmResources = .init(), stop: SlurmJob.Stop = .init(),
    mayExist: Bool = false
  ) -> SlurmOperation {
    let job = SlurmJob(
      observer.identity(job: name, attempt: 1), name: name, arguments: ["/bin/sh", "-c", script],
      directory: folder.url.path(), resources: resources, stop: stop)
    let operation = SlurmOperation(job, on: observer, mayExist: mayExist)
    let (logs, told) = (logs, told)
    let token = operation.observeLog(on: lines) { _, line in logs.withLock { $0[name, default: []].append(line.text) } }
    let statuses = operation.events(.placed, on: lines) { event, _, _ in
      if case .placed(let status as SlurmStatus) = event { told.withLock { $0[name, default: []].append(status) } }
    }
    tokens.withLock { $0 += [token, statuses] }
    return operation
  }

  func start(
    _ name: String, _ script: String, _ resources: SlurmResources = .init(), stop: SlurmJob.Stop = .init(),
    mayExist: Bool = false
  ) -> SlurmOperation {
    let operation = operation(name, script, resources, stop: stop, mayExist: mayExist)
    queue.addOperation(operation)
    return operation
  }

  func log(_ name: String) -> [String] {
    lines.sync {}
    return logs.withLock { $0[name] ?? [] }
  }

  func statuses(_ name: String) -> [SlurmStatus] { told.withLock { $0[name] ?? [] } }

  /// Marks in the run's folder that scripts have made: one line for each execution.
  func marks(_ name: String) -> Int {
    let text = (try? String(contentsOf: folder.file(name), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").count
  }

  /// Ends the scripts that wait for a file of this name.
  func letGo() { _ = FileManager.default.createFile(atPath: folder.file("go").path(), contents: nil) }

  func states() -> [String] { cluster.states("opdash/\(observer.run)/") }
}

extension SlurmOperation {
  func isOver() -> Bool { eventually { isFinished } }
  var isRunning: Bool { if case .running = status { true } else { false } }

  var end: SlurmEnd? {
    switch outcome {
    case .success(let outcome): outcome.end
    case .failure(let error as SlurmFailure): error.end
    default: nil
    }
  }

  var isCancellation: Bool { if case .failure(is CancellationError) = outcome { true } else { false } }
}
