import Foundation

/// The only bound in seconds of the tests: how long one waits for what must come, on however busy a machine.
///
/// `OPDASH_PATIENCE` sets another one, for a run in which things are expected not to come.
package enum Patience {
  package static let seconds: Double =
    ProcessInfo.processInfo.environment["OPDASH_PATIENCE"].flatMap(Double.init) ?? 300
}

/// Polls until `condition` holds, as long as `Patience` says: for effects of other threads and processes.
///
/// The interval grows from 2 to 20 ms, because many conditions scan `/proc` or start a program.
package func eventually(_ condition: () throws -> Bool) rethrows -> Bool {
  let end = Date(timeIntervalSinceNow: Patience.seconds)
  var interval: Int32 = 2
  while Date() < end {
    if try condition() { return true }
    _ = poll(nil, 0, interval)
    interval = min(20, interval + 1)
  }
  return try condition()
}

/// Whether `condition` holds now and for some moments, of a fifth of a second each: it finds a change that must not come if the
/// machine is fast enough, and is never false because the machine is slow.
package func stays(moments: Int = 1, _ condition: () throws -> Bool) rethrows -> Bool {
  for _ in 0..<100 * moments {
    guard try condition() else { return false }
    _ = poll(nil, 0, 2)
  }
  return try condition()
}
