import JobModel
import Screen

/// The commands for the run as a whole.
extension Command {
  static let retryFailed: Command = {
    var command = running(
      "retry-failed", [.control("r")], "retry all failed jobs",
      isEnabled: { $0.canRetry && $0.run.counts.failed > 0 && !$0.failures.isEmpty },
      refusal: {
        $0.run.counts.failed == 0 ? "no job has failed" : $0.canRetry ? "no failed job can be retried" : $0.whyClosed
      },
      word: { $0.isOver ? "retry all failed" : nil }
    ) { model in
      let jobs = Array(model.failures)
      let notice = "retrying \(model.naming(jobs)) and the skipped dependents"
      return (notice, [.send(.retry(model.run.retried(with: jobs), withDependents: false))])
    }
    command.isOffered = \.offersRetry
    return command
  }()

  static let drain = running(
    "drain", [.character("P")], "drain: start nothing new", isEnabled: { !$0.isOver && $0.live.stopping == nil },
    refusal: \.whyClosed, word: { $0.live.isDraining ? "start again" : "drain" },
    answer: { model in
      let drains = !model.live.isDraining
      return (drains ? "nothing new starts" : "jobs start again", [.send(.setDraining(drains))])
    })

  static let watch = running(
    "watch", [.character("W")], "watch inputs, or stop it",
    isEnabled: { !$0.isOver && $0.live.stopping == nil && ($0.live.isWatching || $0.readsInputs) },
    refusal: { $0.readsInputs ? $0.whyClosed : "no job has inputs" },
    word: { $0.live.isWatching ? "end watch" : "watch" },
    answer: { model in
      let watches = !model.live.isWatching
      return (watches ? "inputs are watched" : "inputs are watched no longer", [.send(.setWatching(watches))])
    })

  static let moreSlots = running(
    "more-slots", [.character("+"), .character("=")], "one slot more",
    isEnabled: { !$0.isOver && $0.live.slots < Run.unlimited },
    refusal: { $0.isOver ? $0.whyClosed : "no slot to add" }, word: { _ in "slots" },
    answer: { _ in ("one slot more", [.send(.changeSlots(by: 1))]) })

  static let fewerSlots = running(
    "fewer-slots", [.character("-")], "one slot fewer", isEnabled: { !$0.isOver && $0.live.slots > 1 },
    refusal: { $0.isOver ? $0.whyClosed : "one slot is the least" },
    answer: { _ in ("one slot fewer", [.send(.changeSlots(by: -1))]) })

  static let morePool = resizing(
    "more-pool", ")", "one unit more of its pool", by: 1, isEnabled: { _ in true })

  static let fewerPool = resizing(
    "fewer-pool", "(", "one unit less of its pool", by: -1,
    isEnabled: { model in model.pool.map { model.live.pools[$0, default: 0] > 1 } == true })

  /// Asks about the live run, whatever is shown.
  static let quit = Command(
    "quit", .running, [.character("q"), .function(10)], "quit; asks while jobs run", worksOnHelpPage: true,
    word: { $0.page == .help ? nil : "quit" }, effects: { model, _ in quit(&model) })

  static let detach: Command = {
    var command = Command(
      "detach", .running, [.character("D")], "leave the run running",
      isEnabled: leavesRunning,
      refusal: {
        $0.isReplay
          ? replayRefusal : "this run ends with its terminal; opdash run --detach starts one that does not"
      }, word: { _ in "detach" },
      effects: { model, _ in [.leave(model.attachment != nil || model.isOver ? .quit : .detached)] })
    command.isOffered = leavesRunning
    return command
  }()

  /// Whether the run can continue without this dashboard.
  private static let leavesRunning: Predicate = { $0.attachment != nil || $0.options.canDetach }

  private static func running(
    _ name: String, _ keys: [Key], _ help: String, isEnabled: @escaping Predicate,
    refusal: @escaping @Sendable (Model) -> String, word: @escaping Words = { _ in nil },
    answer: @escaping @Sendable (Model) -> Answer
  ) -> Command {
    Command(name, keys, help, isEnabled: isEnabled, refusal: refusal, word: word, answer: answer)
  }

  private static func resizing(
    _ name: String, _ key: Character, _ help: String, by change: Int, isEnabled: @escaping Predicate
  ) -> Command {
    running(
      name, [.character(key)], help, isEnabled: { !$0.isOver && $0.pool != nil && isEnabled($0) },
      refusal: { model in
        if model.isOver { return model.whyClosed }
        if let pool = model.pool { return "one unit is the least of pool \(pool)" }
        return model.target == nil ? "no job here" : "this job uses no pool"
      },
      answer: { model in
        guard let pool = model.pool else { return ("", []) }
        let (size, least) = (model.live.pools[pool, default: 0], model.live.leastUnits(of: pool))
        guard size + change >= least else {
          return ("a job needs \(Format.count(least, "unit")) of pool \(pool) at once", [])
        }
        return ("pool \(pool): \(Format.count(size + change, "unit"))", [.send(.changePool(pool, by: change))])
      })
  }

  private static func leavesAtOnce(_ model: Model) -> Bool {
    model.isOver || model.isReplay || model.attachment != nil
  }

  /// Whether to quit kills what executes, or leaves it.
  static func quitEscalates(_ model: Model) -> Bool {
    !leavesAtOnce(model) && (model.live.stopping != nil || model.quits > 0)
  }

  /// Leaves the help page, or a run that is over, replayed or another program's; asks while jobs run; escalates the stop of
  /// a run that is being stopped.
  private static func quit(_ model: inout Model) -> [Effect] {
    guard model.page != .help else {
      model.leaveHelp()
      return []
    }
    if leavesAtOnce(model) { return [.leave(.quit)] }
    guard let stopping = model.live.stopping else {
      if model.quits > 0 { return escalate(&model) }
      if model.live.counts.active == 0, model.live.counts.backingOff == 0, model.live.counts.ready == 0 {
        return stop(&model)
      }
      model.prompt = .quit
      return []
    }
    model.quits = max(model.quits, stopping.level == .kill ? 2 : 1)
    return escalate(&model)
  }

  static func stop(_ model: inout Model) -> [Effect] {
    model.prompt = nil
    model.quits = 1
    // Shows the jobs that are still executing.
    model.setFrozen(false)
    return [.send(.stop(.terminate, by: .person))] + Update.departure(model)
  }

  private static func escalate(_ model: inout Model) -> [Effect] {
    model.quits += 1
    guard model.quits == 2 else { return [.leave(.abandoned)] }
    return [.send(.stop(.kill, by: .person))]
  }
}
