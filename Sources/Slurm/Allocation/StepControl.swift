import Foundation
import Operations

/// Sends signals to steps, which are found by their names because srun does not report their numbers.
///
/// A signal to srun itself does not reach the step as intended: asked to end, srun kills the step; while srun is
/// stopped, the step keeps executing. One call names many steps.
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

  /// The delay before a call, to gather similar orders.
  private static let gatherTime = Duration.milliseconds(5)
  /// The delay before a step that Slurm does not list yet is looked up again.
  private static let retryTime = Duration.milliseconds(200)
  /// The longest time that Slurm is expected to take for a signal.
  package static let patience = Duration.seconds(15)
  private static let separator: Character = "\u{1F}"

  package init(runner: any SlurmRunner, clock: any OperationClock) {
    (self.runner, self.clock) = (runner, clock)
  }

  /// Sends a signal, such as `STOP`, to all processes of a step.
  ///
  /// A step that does not exist yet is awaited while `isWanted`, which is called on any thread, returns true. Signals
  /// are sent in the order of the calls, from any thread.
  package func send(_ signal: String, to step: String, while isWanted: @escaping @Sendable () -> Bool) {
    add(Order(signals: [signal], step: step, isWanted: isWanted))
  }

  /// Ends a step with its stop signal, such as `TERM`, which is sent as by `send`.
  ///
  /// The grace begins when Slurm has accepted the signal; when it is over, `kill` is called on any thread.
  package func stop(
    _ step: String, by signal: String, grace: Duration, while isWanted: @escaping @Sendable () -> Bool,
    kill: @escaping @Sendable () -> Void
  ) {
    // A stopped program receives the signal only when it continues.
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
    // A failed call lists no steps.
    let missing = orders.filter { numbers[$0.step] == nil && $0.isWanted() }
    let found = orders.filter { numbers[$0.step] != nil }
    orders = []
    send(found[...], numbers, missing)
  }

  /// Sends the orders; consecutive ones with the same signals share one call for each signal.
  private func send(_ found: ArraySlice<Order>, _ numbers: [String: String], _ missing: [Order]) {
    guard let signals = found.first?.signals else { return end(missing) }
    let batch = found.prefix { $0.signals == signals }
    send(signals[...], to: batch.compactMap { numbers[$0.step] }) { hasController in
      guard hasController else { return self.end(missing + found.filter { $0.isWanted() }) }
      for order in batch { order.whenSent() }
      self.send(found.dropFirst(batch.count), numbers, missing)
    }
  }

  /// Sends the signals to the steps; `done` is called on the queue with whether the controller has answered each call.
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
