import Dispatch
import Foundation
import Support
import Testing

@testable import Operations

@Suite struct DeliveryQueueTests {
  private let queue = DispatchQueue(label: "opdash.tests.delivery")
  private let clock = ManualOperationClock()
  /// So slow that within a test only the first delivery and urgent ones are made.
  private let hourly = MailboxPace(interval: .seconds(3600), burst: 100)

  @Test func aHandlerGetsTheInstantAtWhichItsChangeWasPosted() {
    let delivery = DeliveryQueue(attachedTo: queue, pace: hourly, clock: clock)
    let operation = ManualOperation()
    let told = Journal<String>()
    let note: @Sendable (String, Duration) -> Void = { told.add("\($0) \($1 / .seconds(1))") }
    let tokens = [
      operation.observe(\.state, on: queue, options: .initial) { _, change in note("\(change.newValue)", change.time) },
      operation.events(.lines, on: queue) { event, time, _ in
        if case .lines(let lines) = event { note(lines[0].text, time) }
      },
    ]
    clock.advance(by: .seconds(1))
    operation.start()
    clock.advance(by: .seconds(1))
    operation.log("line")
    clock.advance(by: .seconds(1))
    operation.finish()
    clock.advance(by: .seconds(1))
    delivery.deliverNow()
    #expect(eventually { told.count == 4 })
    #expect(told.entries == ["ready 0.0", "executing 1.0", "line 2.0", "finished 3.0"])
    withExtendedLifetime(tokens) {}
  }

  /// An operation that has reported 1, which has been delivered.
  private func reporting() -> (ManualOperation, Journal<Int64>, ObservationToken) {
    let operation = ManualOperation()
    let told = Journal<Int64>()
    let token = operation.observe(\.progress, on: queue) { _, change in told.add(change.newValue.completed) }
    operation.report(completed: 1)
    #expect(eventually { told.count == 1 })
    return (operation, told, token)
  }

  private func deliver(_ delivery: DeliveryQueue) {
    let done = DispatchSemaphore(value: 0)
    delivery.deliverNow { done.signal() }
    done.wait()
  }

  @Test func theDeliveriesOfOneCallAreFollowedByOneCall() {
    let delivery = DeliveryQueue(attachedTo: queue, pace: hourly, clock: clock)
    let told = Journal<String>()
    delivery.whenDelivered { [weak delivery] in told.add("end, \(delivery?.isDelivering == true)") }
    let operation = ManualOperation()
    let token = operation.observe(\.progress, on: queue) { [weak delivery] _, change in
      told.add("\(change.newValue.completed), \(delivery?.isDelivering == true)")
    }
    operation.report(completed: 1)
    #expect(eventually { told.count == 2 })
    operation.report(completed: 2)
    operation.report(completed: 3)
    deliver(delivery)
    #expect(told.entries == ["1, true", "end, false", "2, true", "3, true", "end, false"])
    #expect(!delivery.isDelivering)
    withExtendedLifetime(token) {}
  }

  @Test func deliveriesWaitForThePaceUntilTheyAreWanted() {
    let delivery = DeliveryQueue(attachedTo: queue, pace: hourly, clock: clock)
    let (operation, told, token) = reporting()
    operation.report(completed: 2)
    operation.report(completed: 3)
    queue.sync {}
    #expect(told.count == 1)
    deliver(delivery)
    #expect(told.entries == [1, 2, 3])
    // With nothing to deliver the body is called all the same.
    deliver(delivery)
    operation.report(completed: 4)
    queue.sync {}
    #expect(told.count == 3)
    deliver(delivery)
    withExtendedLifetime(token) {}
  }

  @Test func withABurstOfOneNoDeliveryWaits() {
    let delivery = DeliveryQueue(attachedTo: queue, pace: hourly, clock: clock)
    let (operation, told, token) = reporting()
    operation.report(completed: 2)
    delivery.setBurst(1)
    #expect(eventually { told.count == 2 })
    for number in 3...10 {
      operation.report(completed: Int64(number))
      #expect(eventually { told.count == number })
    }
    delivery.setBurst(100)
    operation.report(completed: 11)
    queue.sync {}
    #expect(told.count == 10)
    deliver(delivery)
    withExtendedLifetime(token) {}
  }
}
