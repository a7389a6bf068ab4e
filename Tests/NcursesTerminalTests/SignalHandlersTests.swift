import Foundation
import NcursesTerminal
import Testing

/// On a signal that nothing else in these tests knows.
@Suite(.serialized) struct SignalHandlersTests {
  private static let handler: @convention(c) (Int32) -> Void = { _ in }

  private func isHandled() -> Bool {
    // The one before is what `signal` returns.
    let before = signal(SIGTSTP, SIG_DFL)
    return unsafeBitCast(before, to: Int.self) == unsafeBitCast(Self.handler, to: Int.self)
  }

  @Test func aHandlerInstalledWhileCursesOpensIsKept() {
    // Dispatch takes a signal over on a thread of its own, some time after it was asked to.
    signal(SIGTSTP, SIG_IGN)
    let handlers = SignalHandlers()
    signal(SIGTSTP, Self.handler)
    handlers.restore()
    #expect(isHandled())
  }

  @Test func signalsThatCursesTakesAreRestored() {
    signal(SIGTSTP, SIG_DFL)
    let handlers = SignalHandlers()
    signal(SIGTSTP, Self.handler)
    handlers.restore()
    #expect(!isHandled())
  }
}
