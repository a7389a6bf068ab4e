import JobModel
import Screen

extension Command {
  static let cancel = Command(
    "cancel", [.character("x"), .function(9)], "cancel",
    isEnabled: { model in model.someTarget { !$0.isTerminal } && model.someTarget { isCancellable($0, model) } },
    refusal: { model in
      guard model.someTarget({ $0 == .stopping }) else { return "this job has ended" }
      let way = kill.isEnabled(in: model) ? model.keys.label(kill).map { ": \($0) kills it" } ?? "" : ""
      return "it is being stopped\(way)"
    }, word: { _ in "cancel" },
    jobs: JobAction(
      question: .ending, verb: { _, _ in "Cancel" },
      affected: { jobs, model in jobs.filter { isCancellable($0, model) } }
    ) { jobs, model in
      let (last, others) = (jobs.filter { exceedsLimit($0, model) }, jobs.filter { !exceedsLimit($0, model) })
      let cancelled = others.isEmpty ? [] : ["cancelling \(model.naming(others))"]
      let prevented = last.isEmpty ? [] : ["\(model.naming(last)): no other attempt follows"]
      return ((cancelled + prevented).joined(separator: "; "), [.send(.cancel(jobs, by: .person))])
    })

  static let kill = Command(
    "kill", [.character("X")], "kill now, without grace",
    isEnabled: { model in model.someOpenTarget { isKillable($0, model) } },
    refusal: { $0.someTarget { $0 == .stopping } ? "it is being killed" : "this job is not running" },
    word: { _ in "kill" },
    jobs: JobAction(
      question: .ending, ability: .kill, verb: { _, _ in "Kill" },
      affected: { jobs, model in jobs.filter { isKillable($0, model) } }
    ) { jobs, model in
      ("killing \(model.naming(jobs))", [.send(.kill(jobs))])
    })

  static let pause = Command(
    "pause", [.character("p"), .function(7)], "pause or resume",
    isEnabled: { $0.someTarget(able: .pause) { $0.isPausable || $0 == .paused } },
    refusal: { _ in "nothing to pause" },
    word: { $0.someTarget(able: .pause, \.isPausable) ? "pause" : "resume" },
    jobs: JobAction(
      ability: .pause, verb: { pauses($0, $1) ? "Pause" : "Resume" },
      affected: { jobs, model in
        let pausable = jobs.filter { model.stateClass(of: $0).isPausable && model.isAble($0, .pause) }
        return pausable.isEmpty ? jobs.filter { model.stateClass(of: $0) == .paused } : pausable
      }
    ) { jobs, model in
      let pauses = Command.pauses(jobs, model)
      return (
        "\(pauses ? "pausing" : "resuming") \(model.naming(jobs))", [.send(pauses ? .pause(jobs) : .resume(jobs))]
      )
    })

  static let retry = retrying(
    "retry", [.character("r"), .function(8)], "retry; restart a service", dependents: false,
    word: { model in
      let word = repetition(model)
      guard word == "retry", model.size.width >= 60 else { return word }
      return model.someTarget(where: model.hasSkipped) ? "retry + skipped" : word
    })

  static let retryDependents = retrying(
    "retry-dependents", [.character("R")], "retry with dependents", dependents: true,
    word: { model in
      let hasMore = model.someTarget { model.repetition(of: $0) != nil && model.hasMoreDependents($0) }
      return hasMore ? "\(repetition(model)) + dependents" : nil
    })

  /// The word for the target that a key would act on, if it is one.
  private static func repetition(_ model: Model) -> String {
    (model.tags.isEmpty ? model.target.flatMap(model.repetition) : nil) ?? "retry"
  }

  static let approve = Command(
    "approve", [.character("a")], "approve what waits for it", isEnabled: { !$0.index.asking.isEmpty },
    refusal: { _ in "no job waits for approval" }, word: { _ in "approve" },
    jobs: JobAction(
      question: .approval, verb: { _, _ in "Approve" },
      affected: { jobs, model in jobs.filter { model.index.asking.contains($0) } }
    ) { jobs, model in
      ("approved \(model.naming(jobs))", [.send(.approve(jobs))])
    })

  static let showStack: Command = {
    var command = Command(
      "stack", [.character("b")], "where an operation's thread stands",
      isEnabled: { model in model.someOpenTarget { isActive($0, model, able: .showStack) } },
      refusal: { _ in "this operation is not running" }, word: { _ in nil },
      jobs: JobAction(
        ability: .showStack, view: { showLog(&$0) }, verb: { _, _ in "Stop the threads of" },
        affected: { jobs, model in jobs.filter { isActive($0, model, able: .showStack) } }
      ) { jobs, _ in
        ("", [.send(.showStack(jobs))])
      })
    command.isOffered = { $0.run.jobs.first.map { $0.job.work.refusal(of: .showStack) == nil } ?? false }
    return command
  }()

  /// Shows where the log of a job ends.
  private static func showLog(_ model: inout Model) {
    if !model.showsLog, model.page == .list { model.log.extent = .half }
    // A small window has room for one of the two.
    if !model.showsLog, model.page == .list { (model.log.extent, model.focus) = (.full, .log) }
    model.showLog(of: .job)
    model.log.follow()
  }

  static let raise = prioritizing("raise", "]", "priority up", verb: "Raise") { $0.raised }
  static let lower = prioritizing("lower", "[", "priority down", verb: "Lower") { $0.lowered }

  // MARK: Tags

  static let tag = tagging(
    "tag", [.character(" ")], "tag, and move to the next", word: { $0.page == .list ? "tag" : nil },
    change: { model, now in
      guard let id = model.target else { return }
      let isTagged = model.tags.remove(id) == nil
      if isTagged { model.tags.insert(id) }
      // In a log, a move would end following.
      guard model.page == .list, model.focus == .list else {
        return model.say("\(model.naming([id])) is \(isTagged ? "tagged" : "tagged no longer")", now)
      }
      Moving.move(.down, &model)
    })

  static let tagDependents = tagging("tag-dependents", [.character("c")], "tag with its dependents") { model, now in
    var open = [model.target].compactMap(\.self)
    while let next = open.popLast() {
      if model.tags.insert(next).inserted { open += model.run.jobs[next.index].dependents }
    }
    model.say("\(Format.count(model.tags.count, "job")) tagged", now)
  }

  static let tagAll = tagging(
    "tag-all", [.character("A")], "tag all shown", isEnabled: { $0.page == .list && $0.rowCount > 0 },
    change: { model, now in
      let shown = model
      model.tags.reserveCapacity(model.tags.count + shown.rowCount)
      for row in 0..<shown.rowCount { if let id = shown.job(row: row) { model.tags.insert(id) } }
      model.say("\(Format.count(model.tags.count, "job")) tagged", now)
    })

  static let untag = tagging(
    "untag", [.character("U")], "untag all", isEnabled: { !$0.tags.isEmpty }, refusal: "nothing is tagged",
    word: { _ in "untag" },
    change: { model, now in
      model.untag()
      model.say("no job is tagged now", now)
    })

  private static func tagging(
    _ name: String, _ keys: [Key], _ help: String,
    isEnabled: @escaping @Sendable (Model) -> Bool = { $0.target != nil },
    refusal: String = "no job here", word: @escaping @Sendable (Model) -> String? = { _ in nil },
    change: @escaping @Sendable (inout Model, Duration) -> Void
  ) -> Command {
    Command(
      name, .acting, keys, help, isEnabled: isEnabled, refusal: { _ in refusal }, word: word,
      change: { model, now in
        model.isCursorTaken = true
        change(&model, now)
      })
  }

  // MARK: Kinds of commands

  private static func retrying(
    _ name: String, _ keys: [Key], _ help: String, dependents: Bool, word footerWord: @escaping Words
  ) -> Command {
    @Sendable func word(of jobs: [JobID], _ model: Model) -> String {
      let words = Set(jobs.map { model.repetition(of: $0) ?? "retry" })
      return words.count == 1 ? words.first ?? "retry" : "retry"
    }
    var command = Command(
      name, keys, help, isEnabled: { $0.canRetry && $0.someTargetRepeats }, refusal: refuseRetry, word: footerWord,
      jobs: JobAction(
        ability: .retry, verb: { word(of: $0, $1).capitalized },
        affected: { jobs, model in jobs.filter { model.repetition(of: $0) != nil } }
      ) { jobs, model in
        let word = word(of: jobs, model)
        let doing = word == "retry" ? "retrying" : "\(word)ing"
        let others = word == "retry" ? " and what depended on it" : " with its dependents"
        let notice = "\(doing) \(model.naming(jobs))\(dependents ? others : "")"
        return (notice, [.send(.retry(jobs, withDependents: dependents))])
      })
    command.isOffered = \.offersRetry
    return command
  }

  private static func refuseRetry(_ model: Model) -> String {
    guard model.canRetry else { return model.whyClosed }
    if let id = model.targets.first, case .skipped(.job(let cause)) = model.run.jobs[id.index].state {
      let name = model.naming([cause])
      let way = model.keys.label(retry).map { ": \($0) on \(name) retries both" } ?? ""
      return "\(model.naming([id])) was skipped because of \(name)\(way)"
    }
    return "this job has not failed"
  }

  private static func prioritizing(
    _ name: String, _ key: Character, _ help: String, verb: String,
    _ change: @escaping @Sendable (JobPriority) -> JobPriority
  ) -> Command {
    Command(
      name, [.character(key)], help, isEnabled: { $0.someTarget(\.hasPriority) },
      refusal: { _ in "only a job that has not started has a priority" }, word: { _ in nil },
      jobs: JobAction(
        verb: { _, _ in verb },
        affected: { jobs, model in jobs.filter { model.stateClass(of: $0).hasPriority } }
      ) { jobs, model in
        changePriority(jobs, raise: name == "raise", change, model)
      })
  }

  /// Changes each job's priority by one level; jobs that reach the same level share a command.
  private static func changePriority(
    _ ids: [JobID], raise: Bool, _ change: (JobPriority) -> JobPriority, _ model: Model
  ) -> Answer {
    var levels: [JobPriority: [JobID]] = [:]
    for id in ids {
      let old = model.run.jobs[id.index].job.priority
      if change(old) != old { levels[change(old), default: []].append(id) }
    }
    guard let (level, first) = levels.first else {
      return ("already at the \(raise ? "highest" : "lowest") priority", [])
    }
    let notice =
      levels.count == 1
      ? "\(model.naming(first)): priority \(level.rawValue)"
      : "\(model.naming(ids)): priority \(raise ? "up" : "down")"
    return (notice, levels.sorted { $0.key < $1.key }.map { .send(.setPriority($0.value, $0.key)) })
  }

  /// Whether one of the jobs is to be paused; else they are resumed.
  private static func pauses(_ jobs: [JobID], _ model: Model) -> Bool {
    jobs.contains { model.stateClass(of: $0).isPausable }
  }

  /// Whether a cancellation ends the job, or prevents the attempt after one that is ended for a restart or at its limit.
  private static func isCancellable(_ id: JobID, _ model: Model) -> Bool {
    let state = model.stateClass(of: id)
    guard state == .stopping, let reason = model.run.jobs[id.index].cancelling?.by else { return !state.isTerminal }
    return reason == .restart || exceedsLimit(id, model)
  }

  /// Whether an attempt is being ended at a limit of its own; the schedule knows whether another one would follow.
  ///
  /// No attempt follows one that executes at the time limit of the run.
  private static func exceedsLimit(_ id: JobID, _ model: Model) -> Bool {
    let record = model.run.jobs[id.index]
    guard record.cancelling?.by == .timeout else { return false }
    guard let stopping = model.run.stopping, stopping.by == .timeout, let attempt = record.attempt else { return true }
    return attempt.startedAt > stopping.at
  }

  private static func isKillable(_ id: JobID, _ model: Model) -> Bool {
    isActive(id, model, able: .kill) && model.run.jobs[id.index].cancelling?.isKill != true
  }

  private static func isActive(_ id: JobID, _ model: Model, able ability: JobAbility) -> Bool {
    model.run.jobs[id.index].state.isActive && model.isAble(id, ability)
  }
}
