import Dispatch

/// Calls with a completion handler whose answer a command waits for before it starts anything.
package enum BlockingCall {
  /// The first value that `begin` gives, on any thread; nil if it takes longer than `limit`.
  package static func value<Value: Sendable>(
    within limit: DispatchTimeInterval, _ begin: (_ done: @escaping @Sendable (Value) -> Void) -> Void
  ) -> Value? {
    let value = Lock<Value?>(nil)
    let done = DispatchSemaphore(value: 0)
    begin { given in
      value.withLock { $0 = $0 ?? given }
      done.signal()
    }
    return done.wait(timeout: .now() + limit) == .success ? value.withLock(\.self) : nil
  }
}
