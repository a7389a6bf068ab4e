import Foundation
import JobModel
import Operations
import Processes

/// A command in its own process group; its output goes whole to the log file and line by line to the readers.
final class ShellRunner: Runner, Sendable {
  private let work: ShellWork
  private let output: Lock<ShellOutput>
  private let operation = Lock<ShellOperation?>(nil)

  init(_ work: ShellWork, logPath: String?) {
    self.work = work
    output = Lock(ShellOutput(logPath: logPath, progress: work.progress))
  }

  func start(_ report: AttemptReport) {
    let launch = ProcessLaunch(
      work.arguments, directory: work.directory, environment: work.environment, stopSignal: work.stop.signal,
      grace: work.stop.grace)
    let output = output
    let operation = ShellOperation(
      launch,
      launched: { pid in
        output.withLock { $0.hasProcess = true }
        report.started(pid)
      },
      output: { stream, bytes, consumed in
        let (lines, progress) = output.withLock { $0.take(bytes, from: stream) }
        if let progress { report.progress(progress) }
        report.output(lines, consumed)
      })
    operation.whenDone { [unowned operation] result in
      let (lines, progress, hasProcess) = output.withLock { $0.finish() }
      if let progress { report.progress(progress) }
      if !lines.isEmpty { report.output(lines) {} }
      if !hasProcess { report.started(nil) }
      report.ended(operation.isCancelled ? .cancelled : Self.outcome(of: result))
    }
    self.operation.withLock { $0 = operation }
    operation.start()
  }

  func cancel() { operation.withLock(\.self)?.cancel() }
  func kill() { operation.withLock(\.self)?.kill() }
  func pause() { operation.withLock(\.self)?.pause() }
  func resume() { operation.withLock(\.self)?.resume() }

  static func outcome(of result: Result<ProcessExit, any Error>) -> AttemptOutcome {
    switch result {
    case .success(.exited(0)): .succeeded
    case .success(.exited(let code)): .failed(JobFailure(.exit(code), "exit \(code)"))
    case .success(.signalled(let signal)):
      .failed(JobFailure(.signal(signal), "ended by \(SignalName.of(signal))"))
    case .failure(is CancellationError): .cancelled
    case .failure(let error): .failed(JobFailure(.launch, "\(error)"))
    }
  }
}

extension ShellWork {
  var arguments: [String] {
    switch command {
    case .script(let text): ["/bin/sh", "-c", text]
    case .argv(let words): words
    }
  }
}
