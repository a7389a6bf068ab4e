import Foundation
import JobModel
import Operations
import Processes
import Transfers

/// One attempt of a job in the operation queue, as the engine keeps it until its end is stated.
struct Attempt {
  let operation: AsyncOperation
  let job: JobID
  let number: Int
  /// What the operation counts in its progress.
  let unit: JobProgress.Unit
  var hasStarted = false
  var observations: [ObservationToken] = []

  /// Makes the operation of an attempt; nothing starts before it is in a queue.
  init(_ number: Int, of id: JobID, _ job: Job, logPath: String?, clock: any OperationClock) {
    self.number = number
    self.job = id
    switch job.work {
    case .shell(let work):
      let launch = ProcessLaunch(
        work.arguments, directory: work.directory, environment: work.environment, stopSignal: work.stop.signal,
        grace: work.stop.grace)
      operation = ShellOperation(launch, logPath: logPath, progress: work.progress)
    case .download(let work):
      operation = Self.transfer(work.url, logPath) { url in
        DownloadOperation(
          from: url, to: URL(fileURLWithPath: work.file), headers: work.headers, sha256: work.sha256,
          resume: work.resume)
      }
    case .upload(let work):
      operation = Self.transfer(work.url, logPath) { url in
        UploadOperation(URL(fileURLWithPath: work.file), to: url, method: work.method, headers: work.headers)
      }
    case .simulate(let work):
      operation = SimulatedOperation(work, attempt: number, clock: clock)
    case .operation(let work):
      preconditionFailure("\(work.className) is executed by the queue that it is in, and by no engine")
    }
    operation.name = job.name
    unit = JobProgress.Unit(of: operation)
  }

  private static func transfer<Success>(
    _ text: String, _ logPath: String?, _ make: (URL) -> TransferOperation<Success>
  ) -> AsyncOperation {
    guard let url = URL(string: text) else {
      return ClosureOperation<Void> { throw TransferError(.unsupportedURL, "'\(text)' is no URL") }
    }
    let operation = make(url)
    if let logPath { operation.keepNotes(in: logPath) }
    return operation
  }

  func pause() { (operation as? any ControllableOperation)?.pause() }

  func resume() { (operation as? any ControllableOperation)?.resume() }

  func kill() {
    if let operation = operation as? any ControllableOperation { operation.kill() } else { operation.cancel() }
  }
}

extension JobProgress.Unit {
  package init(of operation: Operation) {
    self = operation is DownloadOperation || operation is UploadOperation ? .bytes : .steps
  }
}

extension LogLine {
  /// A line that an operation has logged.
  package init(_ line: OperationLogLine) {
    let stream: LogLine.Stream =
      switch line.source {
      case .message, .standardOutput: .stdout
      case .standardError: .stderr
      case .note: .note
      }
    self.init(stream, line.text, isCut: line.isCut)
  }
}

extension ShellWork {
  fileprivate var arguments: [String] {
    switch command {
    case .script(let text): ["/bin/sh", "-c", text]
    case .argv(let words): words
    }
  }
}
