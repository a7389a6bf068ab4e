import OperationDashboard

/// Works until somebody finishes or cancels it.
final class Waiting: AsyncOperation, @unchecked Sendable {
  // Safe: it has no state of its own.
  init(_ name: String) {
    super.init()
    self.name = name
  }

  override func main() {}
  override func didCancel() { finish() }
}

/// Works for some seconds.
final class Lasting: AsyncOperation, @unchecked Sendable {
  // Safe: constant.
  private let seconds: Double

  init(_ name: String, seconds: Double) {
    self.seconds = seconds
    super.init()
    self.name = name
  }

  override func main() { DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { self.finish() } }
  override func didCancel() { finish() }
}

/// Anybody's operation.
func block(_ name: String, _ body: @escaping @Sendable () -> Void) -> BlockOperation {
  let operation = BlockOperation(block: body)
  operation.name = name
  return operation
}

/// Waits until the test has made the file that the variable names.
func waitForTest(_ variable: String) {
  let path = ProcessInfo.processInfo.environment[variable] ?? "/"
  while !FileManager.default.fileExists(atPath: path) { Thread.sleep(forTimeInterval: 0.02) }
}

func complain(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

/// A dashboard that closes with its last operation, where nothing else is wanted.
func dashboard(
  on queue: OperationQueue = OperationQueue(), _ change: (inout Dashboard.Options) -> Void = { $0.keepOpen = .never }
) -> Dashboard {
  var options = Dashboard.Options()
  options.name = "shapes"
  options.interface = ProcessInfo.processInfo.environment["INTERFACE"] == "inline" ? .inline : .auto
  change(&options)
  return Dashboard(observing: queue, options: options)
}

extension Dashboard.Summary {
  /// One line for the test.
  var line: String { "\(succeeded) ok, \(failed) failed, \(cancelled) cancelled, \(left) left, status \(exitStatus)" }
}
