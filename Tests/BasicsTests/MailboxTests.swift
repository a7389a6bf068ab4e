import Dispatch
import Support
import Testing

@testable import Basics

/// What a mailbox delivers, and when: its queue is a serial one, on which a test can wait for the calls.
struct MailboxTests {
  private let queue = DispatchQueue(label: "test")
  private let calls = Lock<[[Int]]>([])
  private static let hour = MailboxPace(interval: .seconds(3600))

  private func mailbox(_ pace: MailboxPace? = nil) -> Mailbox<Int> {
    Mailbox(on: queue, pace: pace) { [calls] batch in calls.withLock { $0.append(batch) } }
  }

  /// The calls so far, with those that are enqueued and those that they enqueue.
  private var delivered: [[Int]] {
    for _ in 0..<3 { queue.sync {} }
    return calls.withLock { $0 }
  }

  // MARK: Without a pace

  @Test func whatWaitsForTheQueueComesInOneCall() {
    let mailbox = mailbox()
    queue.suspend()
    mailbox.post(1)
    mailbox.post(contentsOf: [2, 3])
    mailbox.post(making: { 4 })
    #expect(mailbox.count == 4)
    queue.resume()
    #expect(delivered == [[1, 2, 3, 4]])
    #expect(mailbox.count == 0)
    mailbox.post(5)
    #expect(delivered == [[1, 2, 3, 4], [5]])
  }

  @Test func whatIsPostedDuringACallComesInTheNext() {
    let (calls, place) = (calls, Lock<Mailbox<Int>?>(nil))
    let mailbox = Mailbox<Int>(on: queue) { batch in
      calls.withLock { $0.append(batch) }
      let mailbox = place.withLock { $0 }
      if batch == [1] { for number in 2...3 { mailbox?.post(number) } }
    }
    place.withLock { $0 = mailbox }
    mailbox.post(1)
    #expect(delivered == [[1], [2, 3]])
    place.withLock { $0 = nil }
  }

  @Test func whoWaitsForRoomIsCalledOnceThereIsSome() {
    let (mailbox, calls, heard) = (mailbox(), calls, Lock<[String]>([]))
    queue.suspend()
    mailbox.post(contentsOf: [1, 2])
    mailbox.whenBelow(3) { heard.withLock { $0.append("at once") } }
    #expect(heard.withLock { $0 } == ["at once"])
    mailbox.whenBelow(2) {
      let count = calls.withLock(\.count)
      heard.withLock { $0.append("after \(count)") }
    }
    #expect(heard.withLock { $0 } == ["at once"])
    queue.resume()
    #expect(delivered == [[1, 2]])
    #expect(heard.withLock { $0 } == ["at once", "after 1"])
    mailbox.post(3)
    #expect(delivered == [[1, 2], [3]])
    #expect(heard.withLock { $0 } == ["at once", "after 1"])
  }

  @Test func aClosedMailboxTakesAndDeliversNothing() {
    let (mailbox, told) = (mailbox(), Lock(0))
    queue.suspend()
    mailbox.post(1)
    mailbox.whenBelow(1) { told.withLock { $0 += 1 } }
    #expect(told.withLock { $0 } == 0)
    mailbox.close()
    #expect(told.withLock { $0 } == 1)
    #expect(mailbox.count == 0)
    mailbox.post(2)
    mailbox.post(contentsOf: [3])
    #expect(mailbox.count == 0)
    mailbox.whenBelow(0) { told.withLock { $0 += 1 } }
    #expect(told.withLock { $0 } == 2)
    queue.resume()
    #expect(delivered == [])
    #expect(told.withLock { $0 } == 2)
  }

  // MARK: With a pace

  @Test func afterWhatIsUrgentTheNextElementWaitsAgain() {
    let mailbox = mailbox(Self.hour)
    mailbox.post(1)
    mailbox.post(2, isUrgent: true)
    #expect(delivered.flatMap(\.self) == [1, 2])
    mailbox.post(3)
    #expect(delivered.flatMap(\.self) == [1, 2])
    #expect(mailbox.count == 1)
    mailbox.post(contentsOf: [4, 5], isUrgent: true)
    #expect(delivered.last == [3, 4, 5])
    mailbox.post(contentsOf: [6, 7])
    #expect(delivered.last == [3, 4, 5])
    mailbox.post(isUrgent: true, making: { 8 })
    #expect(delivered.last == [6, 7, 8])
    mailbox.post(9)
    #expect(delivered.last == [6, 7, 8])
    #expect(mailbox.count == 1)
  }

  @Test func asManyElementsAsTheBurstDoNotWait() {
    let mailbox = mailbox(MailboxPace(interval: .seconds(3600), burst: 3))
    mailbox.post(0)
    #expect(delivered == [[0]])
    mailbox.post(contentsOf: [1, 2])
    #expect(delivered == [[0]])
    mailbox.post(3)
    #expect(delivered == [[0], [1, 2, 3]])
  }

  @Test func aBurstThatIsMadeSmallerHoldsAtOnce() {
    let mailbox = mailbox(Self.hour)
    mailbox.post(0)
    #expect(delivered == [[0]])
    mailbox.post(contentsOf: [1, 2])
    mailbox.setBurst(3)
    #expect(delivered == [[0]])
    mailbox.setBurst(2)
    #expect(delivered == [[0], [1, 2]])
    mailbox.post(3)
    #expect(delivered == [[0], [1, 2]])
  }

  @Test func deliverNowCallsItsClosureAfterAllElements() {
    let (mailbox, calls, counts) = (mailbox(Self.hour), calls, Lock<[Int]>([]))
    let note = { @Sendable in
      let count = calls.withLock(\.count)
      counts.withLock { $0.append(count) }
    }
    mailbox.deliverNow(note)
    #expect(delivered == [])
    #expect(counts.withLock { $0 } == [0])
    mailbox.post(1)
    #expect(delivered == [[1]])
    mailbox.post(2)
    mailbox.deliverNow(note)
    #expect(delivered == [[1], [2]])
    #expect(counts.withLock { $0 } == [0, 2])
    mailbox.post(3)
    #expect(delivered == [[1], [2]])
    #expect(counts.withLock { $0 } == [0, 2])
  }

  private func isTimerSet(_ mailbox: Mailbox<Int>) -> Bool { mailbox.state.withLock { $0.isTimerSet } }

  @Test func aTimerDeliversWhatWaitsAndIsSetAnew() {
    let mailbox = mailbox(Self.hour)
    mailbox.post(1)
    #expect(delivered == [[1]])
    #expect(!isTimerSet(mailbox))
    mailbox.post(2)
    #expect(delivered == [[1]])
    #expect(isTimerSet(mailbox))
    queue.sync { mailbox.timerFired() }
    #expect(delivered == [[1], [2]])
    #expect(!isTimerSet(mailbox))
    // Nothing waits for this one.
    queue.sync { mailbox.timerFired() }
    #expect(delivered == [[1], [2]])
    mailbox.post(3)
    #expect(isTimerSet(mailbox))
  }

  // MARK: The pace, in states that a test makes

  /// So many elements wait, and so many were delivered in an interval that began so many seconds ago.
  private func state(_ waiting: Int, delivered: Int = 0, secondsAgo: Int = 0) -> Mailbox<Int>.State {
    var state = Mailbox<Int>.State(burst: 10)
    state.elements = Array(0..<waiting)
    state.delivered = delivered
    state.began = DispatchTime.now() - .seconds(secondsAgo)
    return state
  }

  /// What is ordered in a state by a mailbox that delivers four elements at once in an interval.
  private func order(_ state: inout Mailbox<Int>.State, interval: DispatchTimeInterval = .seconds(3600)) -> String {
    switch mailbox(MailboxPace(interval: interval, prompt: 4)).nextOrder(&state) {
    case nil: "none"
    case .call: "call"
    case .timer(let time): time == state.began.map { $0 + interval } ? "timer" : "timer at \(time)"
    }
  }

  @Test(arguments: [
    (1, 3, "call"), (1, 4, "timer"), (2, 2, "call"), (2, 3, "timer"), (4, 0, "call"), (5, 0, "timer"),
    (9, 0, "timer"), (10, 0, "call"), (0, 0, "none"),
  ])
  func aCallIsOrderedForLittleAndForABurst(waiting: Int, delivered: Int, expected: String) {
    var state = state(waiting, delivered: delivered)
    let order = order(&state)
    #expect(order == expected)
  }

  @Test func aCallOrATimerIsOrderedOnce() {
    var state = state(1, delivered: 4)
    let orders = (0..<2).map { _ in order(&state) }
    #expect(orders == ["timer", "none"])
    state.hasUrgent = true
    let urgent = (0..<2).map { _ in order(&state) }
    #expect(urgent == ["call", "none"])
    state.call = .executing
    let later = order(&state)
    #expect(later == "none")
  }

  @Test func afterTheIntervalACallIsOrderedUnlessATimerDoes() {
    var state = state(1, delivered: 4, secondsAgo: 1)
    state.isTimerSet = true
    let withTimer = order(&state, interval: .milliseconds(1))
    #expect(withTimer == "none")
    state.isTimerSet = false
    let without = order(&state, interval: .milliseconds(1))
    #expect(without == "call")
  }

  @Test func inAFloodNothingIsPromptAndTheFirstElementAlwaysIs() {
    var flooded = state(1)
    flooded.isFlooded = true
    let later = order(&flooded)
    #expect(later == "timer")
    var new = state(1, delivered: 4)
    new.began = nil
    let first = order(&new)
    #expect(first == "call")
  }

  @Test func withinAnIntervalTheElementsAddUp() {
    var state = state(2, delivered: 4)
    let began = state.began
    mailbox().count(&state, MailboxPace(interval: .seconds(3600), prompt: 4, flood: .seconds(3600)))
    #expect(state.delivered == 6)
    #expect(state.began == began)
    #expect(!state.isFlooded)
  }

  @Test func withoutPromptElementsEachCallBeginsAnInterval() throws {
    var state = state(2, delivered: 1, secondsAgo: 1)
    let began = try #require(state.began)
    mailbox().count(&state, Self.hour)
    #expect(state.delivered == 2)
    #expect(try #require(state.began) > began)
  }

  @Test(arguments: [(4, false), (5, true)])
  func moreThanThePromptElementsOfAnIntervalBeginAFlood(delivered: Int, isFlooded: Bool) throws {
    var state = state(2, delivered: delivered, secondsAgo: 1)
    let began = try #require(state.began)
    mailbox().count(&state, MailboxPace(interval: .milliseconds(1), prompt: 4, flood: .seconds(3600)))
    #expect(state.isFlooded == isFlooded)
    #expect(state.delivered == 2)
    #expect(try #require(state.began) > began)
  }

  @Test(arguments: [(3600, true), (-1, false)])
  func aFloodLastsUntilItsEnd(secondsLeft: Int, isFlooded: Bool) {
    var state = state(1, secondsAgo: 1)
    state.isFlooded = true
    state.floodEnd = DispatchTime.now() + .seconds(secondsLeft)
    mailbox().count(&state, MailboxPace(interval: .milliseconds(1), prompt: 4, flood: .seconds(3600)))
    #expect(state.isFlooded == isFlooded)
  }
}
