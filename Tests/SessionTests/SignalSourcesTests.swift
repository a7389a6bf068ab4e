import Foundation
import Support
import Testing

@testable import Session

@Suite(.serialized) @MainActor struct SignalSourcesTests {
  /// A signal without another use, in place of SIGTSTP.
  private let number = SIGURG

  @Test func aSignalThatComesBeforeAnythingHasRunIsNotLost() async {
    var heard = 0
    let signals = SignalSources(answering: { done in done() }, { _ in })
    signals.add(number) { heard += 1 }
    // The main queue has not executed anything yet, so only what `add` itself installed can be in place.
    kill(getpid(), number)
    #expect(await soon { heard == 1 })
    withExtendedLifetime(signals) {}
    for ended in [SIGINT, SIGTERM, SIGHUP, number] { signal(ended, SIG_DFL) }
  }

  @Test("A queue that blocks after the answer to a signal does not keep the process")
  func aProcessIsAskedUntilItEnds() async {
    await #expect(processExitsWith: .signal(SIGTERM)) {
      let answers = Lock(0)
      let signals = SignalSources(
        patience: .milliseconds(200),
        answering: { done in
          let number = answers.withLock { answers in
            answers += 1
            return answers
          }
          if number <= 3 { done() }
        }, { _ in })
      kill(getpid(), SIGTERM)
      while true { withExtendedLifetime(signals) { _ = pause() } }
    }
  }
}
