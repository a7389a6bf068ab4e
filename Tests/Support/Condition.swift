import Foundation

/// Polls until `condition` holds, at most `bound` seconds: for effects of other threads.
package func eventually(within bound: Double = 30, _ condition: () throws -> Bool) rethrows -> Bool {
  let end = Date(timeIntervalSinceNow: bound)
  while Date() < end {
    if try condition() { return true }
    _ = poll(nil, 0, 2)
  }
  return try condition()
}
