/// What of an operation an observer wants to be told of; asked at each change, so it is a table and not a closure.
struct ChangeInterest: Sendable {
  /// Four bits for each code of the lifecycle: codes that look alike to the observer have the same.
  private var classes: UInt64
  /// Whether the progress counts too.
  private var includesProgress: Bool

  /// The progress alone.
  static let progress = ChangeInterest(classes: 0, includesProgress: true)

  /// Whatever can be observed.
  static let everything = {
    var interest = lifecycle { [$0.publicState.rawValue, $0.isCancelled ? 1 : 0] }
    interest.includesProgress = true
    return interest
  }()

  /// A property of the lifecycle.
  static func lifecycle<Value: Equatable>(_ read: (OperationLifecycle) -> Value) -> ChangeInterest {
    var seen: [Value] = []
    var classes: UInt64 = 0
    for code in 0..<16 {
      let value = read(OperationLifecycle(code: UInt8(code)))
      let index = seen.firstIndex(of: value) ?? seen.count
      if index == seen.count { seen.append(value) }
      classes |= UInt64(index) << UInt64(4 * code)
    }
    return ChangeInterest(classes: classes, includesProgress: false)
  }

  /// Whether the observer sees a difference.
  func isAwake(from old: OperationObservation.Snapshot, to new: OperationObservation.Snapshot) -> Bool {
    if ((classes >> (4 * UInt64(old.code))) ^ (classes >> (4 * UInt64(new.code)))) & 0xF != 0 { return true }
    return includesProgress && old.progress != new.progress
  }
}
