/// How far an operation has come, in whatever unit it counts.
public struct OperationProgress: Sendable, Equatable {
  /// How much is done.
  public var completed: Int64
  /// How much there is to do; nil while that is not known.
  public var total: Int64?

  /// Makes a progress with nothing done, of an unknown whole, unless told otherwise.
  public init(completed: Int64 = 0, total: Int64? = nil) {
    self.completed = completed
    self.total = total
  }

  /// From 0 to 1, or nil while the total is not known.
  public var fraction: Double? {
    guard let total, total > 0 else { return nil }
    return min(1, max(0, Double(completed) / Double(total)))
  }
}

/// Everything of an operation that can be observed as a value, at one instant.
struct OperationSnapshot: Sendable {
  // In this order two of them take the least room; there may be millions on their way.
  var progress: OperationProgress
  var code: UInt8

  init(_ lifecycle: OperationLifecycle, _ progress: OperationProgress) {
    self.progress = progress
    code = lifecycle.code
  }

  var lifecycle: OperationLifecycle { OperationLifecycle(code: code) }
}

/// The differences between snapshots that an observer is told of; looked at for each change, so a table and no closure.
struct ChangeInterest: Sendable {
  /// Four bits for each code of the lifecycle: codes that look alike to the observer have the same.
  private var classes: UInt64
  private var includesProgress: Bool

  static let nothing = ChangeInterest(classes: 0, includesProgress: false)
  static let progress = ChangeInterest(classes: 0, includesProgress: true)

  /// State, cancellation and progress.
  static let status = {
    var interest = lifecycle { [$0.isReady, $0.isExecuting, $0.isFinished, $0.isCancelled] }
    interest.includesProgress = true
    return interest
  }()

  /// A property that follows from the lifecycle alone.
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
