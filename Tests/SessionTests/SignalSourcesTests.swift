import Foundation
import Support
import Testing

@testable import Session

@Suite(.serialized) @MainActor struct SignalSourcesTests {
  /// A signal without another use, in place of SIGTSTP.
  private let number = SIGURG

  @Test func aSignalThatComesBeforeAnythingHasRunIsNotLost() async {
    var heard = 0
    let signals = SignalSources { _ in }
    signals.add(number) { heard += 1 }
    // The main queue has not executed anything yet, so only what `add` itself installed can be in place.
    kill(getpid(), number)
    #expect(await soon { heard == 1 })
    withExtendedLifetime(signals) {}
    for ended in [SIGINT, SIGTERM, SIGHUP, number] { signal(ended, SIG_DFL) }
  }
}
