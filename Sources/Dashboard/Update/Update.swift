import JobModel
import Screen

/// Applies messages to the model and returns effects; nothing else changes the model, and it changes nothing else.
enum Update {
  static func apply(_ message: Message, to model: inout Model, now: Duration) -> [Effect] {
    guard model.isPast, case .input = message else { return perform(message, &model, now) }
    let reading = model.log.reading
    let effects = perform(message, &model, now)
    // A place that a person has moved to in the past stays, with its job.
    if model.isPast, model.log.reading != reading {
      model.later.reading = nil
      if model.showsJobLog { model.later.choice = nil }
    }
    return effects
  }

  private static func perform(_ message: Message, _ model: inout Model, _ now: Duration) -> [Effect] {
    // Not with the tick alone: where facts come without a pause, none comes.
    if let notice = model.notice, notice.until <= now { model.notice = nil }
    switch message {
    case .facts(let events):
      let wasOver = model.isOver
      let wasStopping = model.live.stopping != nil
      let hadOutput = model.live.programLog.total > 0
      model.apply(events)
      // Shows the stop and the jobs that are still executing.
      if !wasStopping, model.live.stopping != nil, !model.isReplay { model.setFrozen(false) }
      // The banner may have taken the room of the log.
      model.keepFocusShown()
      if !hadOutput, model.live.programLog.total > 0, model.log.subject == .job, let key = model.keys.label(.merged) {
        model.say("the program has printed: \(key) shows it", now)
      }
      if model.seeksFailure { noteFailures(events, &model, now) }
      model.reviewPrompt(after: events)
      return ending(model, wasOver: wasOver) + departure(model)
    case .input(.key(let key)):
      let isSelected = model.log.selection?.isMade == true
      model.log.selection = nil
      return key == .escape && isSelected ? [] : press(key, &model, now)
    case .input(.alt(let key)):
      guard model.prompt == nil else {
        if key == .backspace { PromptKeys.type(&model) { $0.take(.control("w")) } }
        return []
      }
      let effects = apply(.input(.key(.escape)), to: &model, now: now)
      FramePreparation.arrange(&model, now: now)
      return effects + apply(.input(.key(key)), to: &model, now: now)
    case .input(.mouse(let event)):
      return MouseInput.handle(event, &model, now)
    case .input(.paste(let text)):
      PromptKeys.type(&model) { $0.insert(text) }
      return []
    case .input(.resized(let size)):
      model.size = size
      model.reviewPrompt()
      return []
    case .input(.closed):
      return [.leave(.terminalClosed)]
    // The dashboard draws again with the colours for the background.
    case .input(.background):
      return []
    case .past(let run, let time):
      return PastTime.show(run, at: time, &model, now)
    case .unrecorded(let reason):
      model.isUnrecorded = true
      model.say(reason, now)
      return []
    case .tick:
      return []
    }
  }

  /// Ends the search for the next failure of a replay, which may have none.
  private static func noteFailures(_ events: [JobEvent], _ model: inout Model, _ now: Duration) {
    let isFound = events.contains { if case .jobState(_, .failed, _, _) = $0.fact { true } else { false } }
    model.seeksFailure = !isFound && !model.isOver
    if !isFound, model.isOver { model.say("no later failure: this is the end", now) }
  }

  /// Notifies of the end of a run; a run that is retried ends once more.
  private static func ending(_ model: Model, wasOver: Bool) -> [Effect] {
    guard model.options.notice != .none, !wasOver, model.isOver, model.live.counts.all > 0 else { return [] }
    return [.notify(EndText.of(model.live, name: model.name))]
  }

  /// Leaves when nothing keeps the dashboard open; called after every change of the run.
  static func departure(_ model: Model) -> [Effect] {
    let run = model.live
    // A stop by a policy keeps the dashboard open to show the failure; in a replay, a stop is only history.
    let isWanted = !model.isReplay && run.stopping.map { $0.by != .policy } ?? false
    if isWanted || model.quits > 0 {
      let isGone = run.summary != nil || run.isComplete || run.isStopped
      return isGone ? [.leave(.stopped)] : []
    }
    guard model.isOver else { return [] }
    switch model.options.keepOpen {
    case .always: return []
    case .never: return [.leave(.complete)]
    // A job that a person has cancelled is one key away from its retry.
    case .onFailure:
      let isKept =
        run.counts.failed > 0
        || run.ids.contains { run[$0].state == .cancelled(by: .person) && run[$0].job.work.refusal(of: .retry) == nil }
      return isKept ? [] : [.leave(.complete)]
    }
  }

  // MARK: Keys

  private static func press(_ key: Key, _ model: inout Model, _ now: Duration) -> [Effect] {
    model.updateLog()
    if model.prompt != nil { return PromptKeys.answer(key, &model, now) }
    let command = model.keys.command(for: key)
    if Layout(model).body.isEmpty, command?.worksUnseen(in: model) == false { return [] }
    if model.isPast || model.wantedPast != nil, key == .end, command == .last {
      model.setFrozen(false)
      return []
    }
    if model.page == .help, key == .enter {
      model.leaveHelp()
      return []
    }
    return command.map { $0.request(&model, now) } ?? []
  }
}
