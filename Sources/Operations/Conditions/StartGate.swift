/// The two gates of one operation with conditions and their legal moves, each with the action that must follow.
///
/// A pure state machine: each method is an input, called under the dependency graph's lock. The graph counts a turn that has
/// not come as one more unfinished dependency.
struct StartGate: Equatable {
  /// The turn among operations that exclude each other.
  enum Turn: Equatable {
    /// Excludes no other operation.
    case none
    /// Waits for the dependencies and for a queue.
    case closed
    case inLine
    /// Has its turn, which it takes when it starts.
    case onTurn
    case open
  }

  /// The answer to the conditions, which are evaluated when the operation would start.
  enum Answer: Equatable {
    /// The operation has no conditions to evaluate.
    case none
    case unasked
    /// An answer to another round is ignored.
    case asking(round: Int)
    /// A condition does not hold; the operation is about to be notified.
    case failing
    case given
  }

  enum AddAction: Equatable {
    case none
    /// The turn is one more dependency from now on.
    case countTurn
    /// The conditions have been evaluated, or are being evaluated.
    case refuse
  }

  enum StartAction: Equatable {
    case begin
    /// The operation begins by itself later.
    case wait
    /// The operation waits and occupies a slot of its queue, so it moves to the front of the line.
    case waitInLine
    /// The operation waits for the answer to this round of questions.
    case waitAndAsk(round: Int)
  }

  private(set) var turn = Turn.none
  private(set) var answer = Answer.none
  /// Whether the operation was started while a gate was closed.
  private(set) var isStartDeferred = false
  private var round = 0

  init(turn: Turn = .none, answer: Answer = .none, isStartDeferred: Bool = false) {
    (self.turn, self.answer, self.isStartDeferred) = (turn, answer, isStartDeferred)
  }

  // MARK: Before and at the start

  /// A condition is added, with a question, with categories or with both.
  mutating func add(hasQuestion: Bool, excludes: Bool) -> AddAction {
    switch (turn, answer) {
    case (.none, .none), (.none, .unasked), (.closed, .none), (.closed, .unasked): break
    case (.inLine, _), (.onTurn, _), (.open, _), (_, .asking), (_, .failing), (_, .given): return .refuse
    }
    if hasQuestion { answer = .unasked }
    guard excludes, turn == .none else { return .none }
    turn = .closed
    return .countTurn
  }

  /// Whether the operation takes its categories, because it starts on turn.
  mutating func takeTurn() -> Bool {
    guard turn == .onTurn, !isStartDeferred else { return false }
    turn = .open
    return true
  }

  /// The operation is started, after `takeTurn`.
  mutating func start() -> StartAction {
    // Started by hand once more.
    if isStartDeferred { return .wait }
    switch turn {
    case .closed, .inLine:
      isStartDeferred = true
      return .waitInLine
    case .none, .onTurn, .open: break
    }
    switch answer {
    case .none, .given: return .begin
    case .unasked:
      isStartDeferred = true
      return .waitAndAsk(round: ask())
    case .asking, .failing:
      isStartDeferred = true
      return .wait
    }
  }

  /// The operation waits for something else before it begins.
  mutating func deferStart() { isStartDeferred = true }

  /// Whether the start was deferred; it no longer is.
  mutating func takeDeferredStart() -> Bool { exchange(&isStartDeferred, with: false) }

  /// The operation is cancelled and passes both gates; true if its start was deferred, so that nothing else starts it.
  mutating func abandon() -> Bool {
    if turn != .none { turn = .open }
    if answer != .none { answer = .given }
    return takeDeferredStart()
  }

  // MARK: The turn

  /// Whether the operation enters the line, now that only the turn is left to wait for.
  mutating func enterLine() -> Bool {
    guard turn == .closed else { return false }
    turn = .inLine
    return true
  }

  /// A dependency was added before the operation stood in the line.
  mutating func leaveLine() { if turn == .inLine { turn = .closed } }

  /// The turn has come; `takeTurnForDeferredStart` follows.
  mutating func giveTurn() { turn = .onTurn }

  /// Whether the operation takes its categories now, because its start was deferred: the start is due.
  mutating func takeTurnForDeferredStart() -> Bool {
    guard turn == .onTurn, takeDeferredStart() else { return false }
    turn = .open
    return true
  }

  /// Another operation on turn has started.
  mutating func revokeTurn() { turn = .inLine }

  // MARK: The answer

  /// Whether a queue may have the conditions evaluated before the start; false for an operation that excludes others.
  var mayAskEarly: Bool { answer == .unasked && turn == .none }

  /// Begins a round of questions; returns its number.
  mutating func ask() -> Int {
    round += 1
    answer = .asking(round: round)
    return round
  }

  /// The operation has to wait again: its conditions are evaluated once more before its start.
  mutating func forgetAnswer() {
    switch answer {
    case .asking, .given: answer = .unasked
    case .none, .unasked, .failing: break
    }
  }

  /// Whether a refusal answers the round that is awaited; `setRefused` follows once the operation knows of it.
  mutating func refuse(round: Int) -> Bool {
    guard answer == .asking(round: round) else { return false }
    answer = .failing
    return true
  }

  /// Whether the conditions hold, as the answer to the round that is awaited.
  mutating func accept(round: Int) -> Bool {
    guard answer == .asking(round: round) else { return false }
    answer = .given
    return true
  }

  /// The operation knows of the refusal; false if it was abandoned meanwhile.
  mutating func setRefused() -> Bool {
    guard answer == .failing else { return false }
    answer = .given
    return true
  }
}
