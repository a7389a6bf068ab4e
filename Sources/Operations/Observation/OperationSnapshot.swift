/// The progress of an operation, in a unit of its own.
public struct OperationProgress: Sendable, Equatable {
  /// The completed amount of work.
  public var completed: Int64
  /// The total amount of work; nil while unknown.
  public var total: Int64?

  /// Makes a progress; by default with nothing completed of an unknown total.
  public init(completed: Int64 = 0, total: Int64? = nil) {
    self.completed = completed
    self.total = total
  }

  /// The completed fraction, from 0 to 1, or nil while the total is unknown.
  public var fraction: Double? {
    guard let total, total > 0 else { return nil }
    return min(1, max(0, Double(completed) / Double(total)))
  }
}

/// All observable values of an operation, at one instant.
struct OperationSnapshot: Sendable {
  // In this order two snapshots take the least memory; there may be millions on their way.
  var progress: OperationProgress
  var code: UInt8

  init(_ lifecycle: OperationLifecycle, _ progress: OperationProgress) {
    self.progress = progress
    code = lifecycle.code
  }

  var lifecycle: OperationLifecycle { OperationLifecycle(code: code) }
}

/// The differences between snapshots that an observer receives; read at each change, so a table and not a closure.
struct ChangeInterest: Sendable {
  /// Four bits for each code of the lifecycle: codes that are equal for the observer have the same value.
  var classes: UInt64
  var includesProgress: Bool

  private static let nothing = ChangeInterest(classes: 0, includesProgress: false)
  static let progress = ChangeInterest(classes: 0, includesProgress: true)

  /// State, cancellation and progress.
  static let status = {
    var interest = lifecycle { [$0.isReady, $0.isExecuting, $0.isFinished, $0.isCancelled] }
    interest.includesProgress = true
    return interest
  }()

  /// The differences of a property derived from the lifecycle alone.
  static func lifecycle<Value: Equatable>(_ read: (OperationLifecycle) -> Value) -> ChangeInterest {
    var seen: [Value] = []
    var interest = nothing
    for code in 0..<16 {
      let value = read(OperationLifecycle(code: UInt8(code)))
      let index = seen.firstIndex(of: value) ?? seen.count
      if index == seen.count { seen.append(value) }
      interest.classes |= UInt64(index) << UInt64(4 * code)
    }
    return interest
  }

  func includes(_ old: OperationSnapshot, _ new: OperationSnapshot) -> Bool {
    if ((classes >> (4 * UInt64(old.code))) ^ (classes >> (4 * UInt64(new.code)))) & 0xF != 0 { return true }
    return includesProgress && old.progress != new.progress
  }
}
