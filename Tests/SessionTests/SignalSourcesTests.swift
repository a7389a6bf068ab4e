import Foundation
import Support
import Testing

@testable import Session

@Suite(.serialized) @MainActor struct SignalSourcesTests {
  /// A signal of no other use: the test program gets it in the place of SIGTSTP.
  private let number = SIGURG

  @Test func aSignalThatComesBeforeAnythingHasRunIsNotLost() async {
    var heard = 0
    let signals = SignalSources { _ in }
    signals.add(number) { heard += 1 }
    // The main queue has had no turn yet, so no source of any kind can be in place but what `add` itself put there.
    kill(getpid(), number)
    for _ in 0..<500 where heard == 0 {
      await withCheckedContinuation { continuation in
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(10)) { continuation.resume() }
      }
    }
    #expect(heard == 1)
    withExtendedLifetime(signals) {}
    for ended in [SIGINT, SIGTERM, SIGHUP, number] { signal(ended, SIG_DFL) }
  }
}
