import Foundation
import Operations

/// Sends signals to steps, which are found by their names, because srun does not say their numbers.
///
/// Neither reaches a step by srun itself: it kills the step when it is asked to end, and goes on without it when it is
/// stopped. Many steps are named in one call.
package final class StepControl: @unchecked Sendable {
  // Safe: the variables are used on `queue` only.

  private struct Order {
    /// Sent in this order.
    var signals: [String]
    var step: String
    var isWanted: @Sendable () -> Bool
    var whenSent: @Sendable () -> Void = {}
  }

  private let runner: any SlurmRunner
  private let clock: any OperationClock
  private let queue = DispatchQueue(label: "opdash.slurm.steps", qos: .userInitiated)
  private var orders: [Order] = []
  private var isBusy = false

  /// How long a call waits for others of its kind.
  private static let gatherTime = Duration.milliseconds(5)
  /// The time until a step that Slurm does not list yet is looked for again.
  private static let retryTime = Duration.milliseconds(200)
  /// The longest time that Slurm is expected to take for a signal.
  package static let patience = Duration.seconds(15)
  private static let separator: Character = "\u{1F}"

  package init(runner: any SlurmRunner, clock: any OperationClock) {
    (self.runner, self.clock) = (runner, clock)
  }

  /// Sends a signal, as `STOP`, to all processes of a step; one that is not there yet is waited for while `isWanted`, which
  /// is called on any thread.
  ///
  /// Signals are sent in the order of the calls, from any thread.
  package func send(_ signal: String, to step: String, while isWanted: @escaping @Sendable () -> Bool) {
    add(Order(signals: [signal], step: step, isWanted: isWanted))
  }

  /// Has a step end by its stop signal, as `TERM`, which is sent as by `send`.
  ///
  /// `kill` is called on any thread when the grace is over; it begins when Slurm has taken the signal.
  package func stop(
    _ step: String, by signal: String, grace: Duration, while isWanted: @escaping @Sendable () -> Bool,
    kill: @escaping @Sendable () -> Void
  ) {
    // A program that is stopped gets the signal only when it continues.
    add(
      Order(signals: [signal, "CONT"], step: step, isWanted: isWanted) { [clock, queue] in
        _ = clock.schedule(after: grace, on: queue, kill)
      })
  }

  private func add(_ order: Order) {
    queue.async { [self] in
      orders.append(order)
      begin(after: Self.gatherTime)
    }
  }

  private func begin(after delay: Duration) {
    guard !isBusy, !orders.isEmpty else { return }
    isBusy = true
    _ = clock.schedule(after: delay, on: queue) { [self] in
      let list = ["%i", "%j"].joined(separator: String(Self.separator))
      runner.run(SlurmCommand(["squeue", "--me", "-a", "-s", "-h", "-o", list])) { answer in
        self.queue.async { self.listed(answer) }
      }
    }
  }

  private func listed(_ answer: SlurmAnswer) {
    var numbers: [String: String] = [:]
    for line in answer.output.lines {
      let fields = line.split(separator: Self.separator, maxSplits: 1)
      if fields.count == 2 { numbers[String(fields[1])] = String(fields[0]) }
    }
    // An answer that has not come names none.
    let missing = orders.filter { numbers[$0.step] == nil && $0.isWanted() }
    let found = orders.filter { numbers[$0.step] != nil }
    orders = []
    send(found[...], numbers, missing)
  }

  /// Sends the orders, those in a row that are alike by one call for each signal.
  private func send(_ found: ArraySlice<Order>, _ numbers: [String: String], _ missing: [Order]) {
    guard let signals = found.first?.signals else { return end(missing) }
    let batch = found.prefix { $0.signals == signals }
    send(signals[...], to: batch.compactMap { numbers[$0.step] }) { hasController in
      guard hasController else { return self.end(missing + found.filter { $0.isWanted() }) }
      for order in batch { order.whenSent() }
      self.send(found.dropFirst(batch.count), numbers, missing)
    }
  }

  /// `done` is called on the queue with whether the controller has answered each call.
  private func send(_ signals: ArraySlice<String>, to steps: [String], _ done: @escaping @Sendable (Bool) -> Void) {
    guard let signal = signals.first else { return done(true) }
    runner.run(SlurmCommand(["scancel", "--signal=\(signal)"] + steps)) { answer in
      self.queue.async {
        // A step that has ended meanwhile makes the call fail.
        if answer.isWithoutController { done(false) } else { self.send(signals.dropFirst(), to: steps, done) }
      }
    }
  }

  private func end(_ again: [Order]) {
    isBusy = false
    // They are older than the orders that were added during the calls.
    orders = again + orders
    begin(after: again.isEmpty ? Self.gatherTime : Self.retryTime)
  }
}
