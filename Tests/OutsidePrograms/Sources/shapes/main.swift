// shapes NAME: a program with an OperationQueue and the dashboard on it; Tests/EndToEndTests says what each must do.

import OperationDashboard

/// A program; returns its exit status.
typealias Shape = @MainActor () async throws -> Int32

let shapes: [String: Shape] = printingShapes.merging(endingShapes) { $1 }
  .merging(queueShapes) { $1 }.merging(retryingShapes) { $1 }

guard let shape = shapes[CommandLine.arguments.dropFirst().first ?? ""] else {
  print("usage: shapes \(shapes.keys.sorted().joined(separator: "|"))")
  exit(2)
}
exit(try await shape())
