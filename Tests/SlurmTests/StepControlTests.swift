import Foundation
import Operations
import Support
import Testing

@testable import Slurm

/// Signals to the steps of an allocation.
@Suite struct StepControlTests {
  private let slurm = FakeSlurm()
  private let clock = ManualOperationClock()
  private let control: StepControl
  private let killed = Lock<[String]>([])

  init() { control = StepControl(runner: slurm, clock: clock) }

  /// Has the next lists of steps answered, each after the moment in which calls are gathered.
  private func list(_ lists: [String]...) {
    slurm.change { slurm in
      slurm.canned["squeue"] = lists.map { list in
        SlurmAnswer(.exited(0), output: list.map { "7.\($0)\u{1F}run/\($0)\n" }.joined())
      }
    }
  }

  private func stop(_ step: String) {
    control.stop(
      "run/\(step)", by: "TERM", grace: .seconds(5), while: { true },
      kill: { [killed] in killed.withLock { $0.append(step) } })
  }

  private var signals: [[String]] { slurm.calls(of: "scancel").map { Array($0.dropFirst()) } }

  /// Advances the clock until a condition holds that the control's own queue makes true.
  private func expect(_ condition: () -> Bool, at place: SourceLocation = #_sourceLocation) {
    let holds = eventually {
      clock.advance(by: .milliseconds(5))
      return condition()
    }
    #expect(holds, "\(signals)", sourceLocation: place)
  }

  @Test func manyStepsAreStoppedByOneCallForEachSignal() {
    list((1...40).map(String.init))
    for number in 1...40 { stop("\(number)") }
    let all = (1...40).map { "7.\($0)" }
    expect { signals.count >= 2 }
    #expect(signals == [["--signal=TERM"] + all, ["--signal=CONT"] + all])
  }

  @Test func signalsToAStepComeInTheOrderOfTheCallsFromOneList() {
    list(["1"])
    control.send("STOP", to: "run/1", while: { true })
    stop("1")
    expect { signals.count >= 3 }
    #expect(signals == [["--signal=STOP", "7.1"], ["--signal=TERM", "7.1"], ["--signal=CONT", "7.1"]])
    #expect(slurm.calls(of: "squeue").count == 1)
  }

  @Test func theGraceBeginsWhenTheSignalWasSent() {
    list(["1"])
    slurm.change { $0.held = ["squeue"] }
    stop("1")
    expect { slurm.calls(of: "squeue").count == 1 }
    clock.advance(by: .seconds(60))
    #expect(killed.withLock { $0 } == [])
    slurm.release()
    expect { signals.count == 2 }
    clock.advance(by: .seconds(4))
    #expect(killed.withLock { $0 } == [])
    expect { killed.withLock { $0 } == ["1"] }
  }

  @Test func aSignalThatTheControllerHasNotTakenIsSentAgain() {
    list(["1"], ["1"])
    slurm.change { $0.canned["scancel"] = [FakeSlurm.down] }
    stop("1")
    expect { signals.count >= 3 }
    #expect(signals.map(\.first) == ["--signal=TERM", "--signal=TERM", "--signal=CONT"])
  }

  @Test func aStepThatIsNotThereYetIsWaitedForWhileItIsWanted() {
    list([], ["1"])
    stop("1")
    control.send("STOP", to: "run/2", while: { false })
    expect { signals.count >= 2 }
    #expect(signals.map(\.last) == ["7.1", "7.1"])
    clock.advance(by: .seconds(1))
    #expect(slurm.calls(of: "squeue").count == 2)
  }

  @Test func aCallWaitsForOthersAndAMissingStepIsLookedForLater() {
    list([], ["1"])
    control.send("STOP", to: "run/1", while: { true })
    #expect(eventually { !clock.due.isEmpty })
    #expect(clock.due == [.milliseconds(5)])
    clock.advance(by: .milliseconds(5))
    #expect(slurm.calls(of: "squeue") == [["squeue", "--me", "-a", "-s", "-h", "-o", "%i\u{1F}%j"]])
    #expect(eventually { !clock.due.isEmpty })
    #expect(clock.due == [.milliseconds(205)])
    clock.advance(by: .milliseconds(200))
    #expect(eventually { !signals.isEmpty })
    #expect(signals == [["--signal=STOP", "7.1"]])
  }

  @Test func anOrderThatComesDuringACallIsCarriedOutWithIt() {
    list(["1", "2"])
    slurm.change { $0.held = ["squeue"] }
    control.send("STOP", to: "run/1", while: { true })
    expect { slurm.calls(of: "squeue").count == 1 }
    control.send("STOP", to: "run/2", while: { true })
    slurm.release()
    #expect(eventually { !signals.isEmpty })
    #expect(signals == [["--signal=STOP", "7.1", "7.2"]])
    #expect(clock.due.isEmpty)
  }

  @Test func anOrderIsCarriedOutOnce() {
    list(["1"], ["1", "2"])
    control.send("STOP", to: "run/1", while: { true })
    expect { signals.count == 1 }
    control.send("CONT", to: "run/2", while: { true })
    expect { signals.count >= 2 }
    #expect(signals == [["--signal=STOP", "7.1"], ["--signal=CONT", "7.2"]])
    #expect(slurm.calls(of: "squeue").count == 2)
  }

  /// What was not sent is older than what was added meanwhile.
  @Test func whatIsSentAgainComesBeforeWhatIsNew() {
    list(["1"], ["1"])
    slurm.change {
      $0.held = ["scancel"]
      $0.canned["scancel"] = [FakeSlurm.down]
    }
    control.send("STOP", to: "run/1", while: { true })
    expect { signals.count == 1 }
    control.send("CONT", to: "run/1", while: { true })
    slurm.release()
    expect { signals.count >= 3 }
    #expect(signals.map(\.first) == ["--signal=STOP", "--signal=STOP", "--signal=CONT"])
  }
}
