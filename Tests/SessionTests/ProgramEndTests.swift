import Foundation
import JobModel
import NcursesTerminal
import Testing

@testable import Session

struct ProgramEndTests {
  @Test(
    arguments: [(StopSequence.Cause.interrupt, 2), (.terminate, 15), (.hangup, 1)] as [(StopSequence.Cause, Int32)])
  func aRunThatASignalHasStoppedEndsTheProgramByIt(_ cause: StopSequence.Cause, _ signal: Int32) {
    let end = ProgramEnd(ExitStatus.signal(signal), of: cause)
    #expect(end.signal == signal && end.status == 128 + signal)
  }

  @Test func anyOtherStatusEndsTheProgramItself() {
    // The jobs had ended before the signal came.
    #expect(ProgramEnd(0, of: .interrupt).signal == nil)
    #expect(ProgramEnd(ExitStatus.signal(15), of: .interrupt).signal == nil)
    // A run that is played again had been stopped.
    #expect(ProgramEnd(ExitStatus.signal(2)).signal == nil)
    #expect(ProgramEnd(ExitStatus.signal(13), of: .outputClosed).signal == nil)
  }

  @Test func aTerminalThatIsGoneBeforeTheStartEndsTheProgramByItsSignal() {
    #expect(ProgramEnd(before: TerminalError.hasHungUp) == ProgramEnd(129, of: .hangup))
    #expect(ProgramEnd(before: TerminalError.noTerm) == ProgramEnd(2))
    #expect(ProgramEnd(before: UsageError("")) == ProgramEnd(2))
  }

  #if !ADDRESS_SANITIZER
  @Test("The handlers of exit free what other threads still use")
  func theHandlersOfExitAreNotCalled() async {
    let result = await #expect(processExitsWith: .exitCode(7), observing: [\.standardOutputContent]) {
      atexit { abort() }
      print("flushed")
      ProgramEnd(7).perform()
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(output.contains("flushed\n"))
  }
  #endif

  @Test func theFirstCauseOfARunIsItsEnd() {
    let controller = StopController(RecordedFeed([]), clock: .system) { _ in }
    #expect(controller.end(130) == ProgramEnd(130))
    _ = controller.begin(.init(whenIdle: { $0() }, written: { 0 }, isBlocked: { false }, discard: { _ in false }))
    _ = controller.receive(.interrupt)
    _ = controller.receive(.terminate)
    #expect(controller.end(130) == ProgramEnd(130, of: .interrupt) && controller.end(143).signal == nil)
    controller.close()
  }
}
