import Testing

@testable import Operations

/// The moves of the machine, each from every state in which it may come.
@Suite struct StartGateTests {
  typealias Turn = StartGate.Turn
  typealias Answer = StartGate.Answer

  private static let turns: [Turn] = [.none, .closed, .inLine, .onTurn, .open]
  private static let answers: [Answer] = [.none, .unasked, .asking(round: 0), .failing, .given]

  private func move<Value>(_ gate: StartGate, _ body: (inout StartGate) -> Value) -> (gate: StartGate, value: Value) {
    var gate = gate
    let value = body(&gate)
    return (gate, value)
  }

  // MARK: Adding conditions

  @Test(arguments: turns, answers) func aConditionIsAddedUntilTheFirstMove(turn: Turn, answer: Answer) {
    let isInTime = [.none, .closed].contains(turn) && [.none, .unasked].contains(answer)
    let gate = StartGate(turn: turn, answer: answer)
    for (hasQuestion, excludes) in [(true, false), (false, true), (true, true)] {
      let (after, action) = move(gate) { $0.add(hasQuestion: hasQuestion, excludes: excludes) }
      guard isInTime else {
        #expect(action == .refuse && after == gate)
        continue
      }
      // The turn is counted once.
      #expect(action == (excludes && turn == .none ? .countTurn : .none))
      #expect(after.turn == (excludes ? .closed : turn) && after.answer == (hasQuestion ? .unasked : answer))
    }
  }

  // MARK: The start

  @Test(arguments: turns, answers) func theStartWaitsForTheTurnAndThenForTheAnswer(turn: Turn, answer: Answer) {
    var gate = StartGate(turn: turn, answer: answer)
    #expect(gate.takeTurn() == (turn == .onTurn))
    #expect(gate.turn == (turn == .onTurn ? .open : turn))
    let action = gate.start()
    switch (turn, answer) {
    case (.closed, _), (.inLine, _):
      #expect(action == .waitInLine && gate.turn == turn && gate.answer == answer)
    case (_, .none), (_, .given): #expect(action == .begin)
    case (_, .unasked): #expect(action == .waitAndAsk(round: 1) && gate.answer == .asking(round: 1))
    case (_, .asking), (_, .failing): #expect(action == .wait && gate.answer == answer)
    }
    #expect(gate.isStartDeferred == (action != .begin))
  }

  @Test(arguments: turns, answers) func aStartThatIsDeferredIsDeferredOnce(turn: Turn, answer: Answer) {
    let gate = StartGate(turn: turn, answer: answer, isStartDeferred: true)
    let (after, taken) = move(gate) { gate in gate.takeTurn() ? .begin : gate.start() }
    #expect(taken == .wait && after == gate)
  }

  @Test func aDeferredStartIsTakenOnce() {
    var gate = StartGate()
    #expect(gate.takeDeferredStart() == false)
    gate.deferStart()
    #expect(gate.isStartDeferred && gate.takeDeferredStart() && !gate.takeDeferredStart())
  }

  @Test(arguments: turns, answers) func whatIsAbandonedPassesBothGates(turn: Turn, answer: Answer) {
    for isStartDeferred in [true, false] {
      var gate = StartGate(turn: turn, answer: answer, isStartDeferred: isStartDeferred)
      #expect(gate.abandon() == isStartDeferred && !gate.isStartDeferred)
      // What has no gate gets none.
      #expect(gate.turn == (turn == .none ? .none : .open) && gate.answer == (answer == .none ? .none : .given))
      #expect(!gate.takeTurn() && gate.start() == .begin)
    }
  }

  // MARK: The turn

  @Test(arguments: turns) func theLineIsEnteredOnceAndLeftForANewDependency(turn: Turn) {
    var gate = StartGate(turn: turn)
    #expect(gate.enterLine() == (turn == .closed) && !gate.enterLine())
    gate.leaveLine()
    #expect(gate.turn == ([.closed, .inLine].contains(turn) ? .closed : turn))
  }

  @Test func aTurnThatComesBeginsADeferredStartAndIsLostToAnother() {
    var gate = StartGate(turn: .inLine)
    gate.giveTurn()
    #expect(gate.turn == .onTurn && !gate.takeTurnForDeferredStart())
    gate.revokeTurn()
    #expect(gate.turn == .inLine && gate.start() == .waitInLine && !gate.takeTurnForDeferredStart())
    gate.giveTurn()
    #expect(gate.takeTurnForDeferredStart() && gate.turn == .open && !gate.isStartDeferred)
    #expect(!gate.takeTurn() && gate.start() == .begin)
  }

  // MARK: The answer

  @Test func onlyTheAnswerToTheNewestQuestionCounts() {
    var gate = StartGate(answer: .unasked)
    #expect(gate.ask() == 1)
    gate.forgetAnswer()
    #expect(gate.answer == .unasked && gate.ask() == 2)
    #expect(!gate.accept(round: 1) && !gate.refuse(round: 1) && gate.answer == .asking(round: 2))
    #expect(gate.accept(round: 2) && gate.answer == .given)
    #expect(!gate.accept(round: 2) && !gate.refuse(round: 2))
  }

  @Test func aRefusalIsNoAnswerUntilTheOperationKnowsOfIt() {
    var gate = StartGate(answer: .unasked)
    let round = gate.ask()
    #expect(!gate.setRefused() && gate.refuse(round: round) && gate.answer == .failing)
    #expect(!gate.accept(round: round) && gate.setRefused() && gate.answer == .given)
    #expect(gate.setRefused() == false)
  }

  @Test(arguments: answers) func aNewWaitMakesAnAnswerVoid(answer: Answer) {
    var gate = StartGate(answer: answer)
    gate.forgetAnswer()
    let isVoid = answer == .asking(round: 0) || answer == .given
    #expect(gate.answer == (isVoid ? .unasked : answer))
  }

  @Test(arguments: turns, answers) func onlyQuestionsWithoutATurnAreAskedEarly(turn: Turn, answer: Answer) {
    #expect(StartGate(turn: turn, answer: answer).mayAskEarly == (turn == .none && answer == .unasked))
  }
}
