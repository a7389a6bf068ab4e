import Basics
import Dispatch
import Support
import Testing

@Suite struct MailboxPaceTests {
  /// A mailbox with a pace so slow that within a test only elements that don't wait for it are delivered.
  private func mailbox(burst: Int = 100) -> (Mailbox<Int>, Lock<[[Int]]>) {
    let calls = Lock<[[Int]]>([])
    let pace = MailboxPace(interval: .seconds(3600), burst: burst)
    let mailbox = Mailbox<Int>(on: DispatchQueue(label: "test"), pace: pace) { batch in
      calls.withLock { $0.append(batch) }
    }
    return (mailbox, calls)
  }

  @Test func theFirstElementDoesNotWaitForThePace() {
    let (mailbox, calls) = mailbox()
    mailbox.post(1)
    #expect(eventually { calls.withLock { $0 } == [[1]] })
  }

  @Test func whatIsUrgentTakesAlongWhatWaitsForThePace() {
    let (mailbox, calls) = mailbox()
    mailbox.post(1)
    #expect(eventually { calls.withLock { $0 } == [[1]] })
    mailbox.post(2)
    mailbox.post(3)
    #expect(mailbox.count == 2)
    mailbox.post(4, isUrgent: true)
    #expect(eventually { calls.withLock { $0 } == [[1], [2, 3, 4]] })
  }

  @Test func aBurstDoesNotWaitForThePace() {
    let (mailbox, calls) = mailbox(burst: 10)
    mailbox.post(0)
    #expect(eventually { calls.withLock { $0.count } == 1 })
    for number in 1..<10 { mailbox.post(number) }
    #expect(mailbox.count == 9)
    mailbox.post(10)
    #expect(eventually { calls.withLock { $0.last?.count } == 10 })
  }

  @Test func whatComesAfterAnOvertakenTimerIsDeliveredByIt() {
    let calls = Lock<[[Int]]>([])
    let pace = MailboxPace(interval: .milliseconds(300), burst: 100)
    let mailbox = Mailbox<Int>(on: DispatchQueue(label: "test"), pace: pace) { batch in
      calls.withLock { $0.append(batch) }
    }
    mailbox.post(1)
    #expect(eventually { calls.withLock { $0 } == [[1]] })
    mailbox.post(2)
    mailbox.post(3, isUrgent: true)
    #expect(eventually { calls.withLock { $0.joined().count } == 3 })
    mailbox.post(4)
    #expect(eventually { calls.withLock { Array($0.joined()) } == [1, 2, 3, 4] })
  }

  @Test func whatIsPacedIsDeliveredWholeAndInOrder() {
    let calls = Lock<[Int]>([])
    let mailbox = Mailbox<Int>(
      on: DispatchQueue(label: "test"), pace: .init(interval: .microseconds(200), burst: 7)
    ) { batch in calls.withLock { $0 += batch } }
    for number in 0..<20_000 { mailbox.post(number, isUrgent: number % 97 == 0) }
    #expect(eventually { calls.withLock { $0.count } == 20_000 })
    #expect(calls.withLock { $0 } == Array(0..<20_000))
  }

  /// How often the receiver is called at the pace of frames is measured in Tests/Benchmarks.
  @Test func aFloodWaitsForTheEndOfTheInterval() {
    let calls = Lock<[Int]>([])
    let pace = MailboxPace(interval: .seconds(3600), prompt: 16)
    let mailbox = Mailbox<Int>(on: DispatchQueue(label: "test"), pace: pace) { batch in
      calls.withLock { $0.append(batch.count) }
    }
    for number in 0..<300_000 { mailbox.post(number) }
    #expect(calls.withLock { $0.count } <= 16)
    mailbox.deliverNow()
    #expect(eventually { calls.withLock { $0.reduce(0, +) } == 300_000 })
    #expect(calls.withLock { $0.count } <= 17, "\(calls.withLock { $0 })")
  }

  @Test func whatIsLittleIsHandedOnAtOnceAtThePaceOfFrames() {
    let calls = Lock<[[Int]]>([])
    let pace = MailboxPace(interval: .seconds(3600), prompt: 4)
    let mailbox = Mailbox<Int>(on: DispatchQueue(label: "test"), pace: pace) { batch in
      calls.withLock { $0.append(batch) }
    }
    for number in 0..<4 {
      mailbox.post(number)
      #expect(eventually { calls.withLock { $0.count } == number + 1 })
    }
    mailbox.post(4)
    #expect(mailbox.count == 1)
    mailbox.post(5, isUrgent: true)
    #expect(eventually { calls.withLock { $0.last } == [4, 5] })
  }
}
