import JobModel

/// The effect of a command on jobs.
struct JobAction: Sendable {
  enum Question {
    /// Asks before it acts on a job that is not on the screen.
    case usual
    /// Asks as well before it ends several jobs if any of them has an attempt in progress.
    case ending
    /// Always asks, with the job's own question.
    case approval
  }

  var question = Question.usual
  /// The ability that a job's kind of work must have.
  var ability: JobAbility?
  /// The change of the view that its answer needs.
  var view: @Sendable (inout Model) -> Void = { _ in }
  /// The first word of the question.
  let verb: @Sendable ([JobID], Model) -> String
  /// The jobs among these on which it has an effect.
  let affected: @Sendable ([JobID], Model) -> [JobID]
  let answer: @Sendable ([JobID], Model) -> Command.Answer

  func perform(_ jobs: [JobID], _ model: inout Model, _ now: Duration) -> [Effect] {
    model.takeCursor()
    let (notice, effects) = answer(jobs, model.asLive)
    view(&model)
    model.say(notice, now)
    return effects
  }

  /// The targets on which it has an effect; if nothing that is asked is among them, the first job that asks for approval.
  func chosen(in model: Model) -> [JobID] {
    let jobs = affected(model.targets, model.asLive)
    return question == .approval && jobs.isEmpty ? model.liveIndex.asking.min().map { [$0] } ?? [] : jobs
  }

  func mustAsk(about jobs: [JobID], in model: Model) -> Bool {
    switch question {
    case .approval: true
    case .ending where jobs.count > 1 && jobs.contains { model.live.jobs[$0.index].state.isActive }: true
    case .ending, .usual: !model.onScreen.isSuperset(of: jobs)
    }
  }
}

extension Model {
  /// Withdraws a question that the screen can't show any more, and one whose jobs have changed; one that asks a person
  /// again is another question.
  mutating func reviewPrompt(after events: [JobEvent] = []) {
    switch prompt {
    case .quit where isOver: prompt = nil
    case .confirm(let command, var jobs):
      guard let action = command.jobs else { break }
      // An instant of the past may lack the jobs, and no command is given there.
      guard command.isEnabled(in: self) else {
        prompt = nil
        break
      }
      if action.question == .approval {
        for case .jobState(let id, _, _, _) in events.lazy.map(\.fact) { jobs.removeAll { $0 == id } }
      }
      jobs = action.affected(jobs, asLive)
      prompt = jobs.isEmpty ? nil : .confirm(command, jobs)
    default: break
    }
    if !showsQuestion { prompt = nil }
  }
}
