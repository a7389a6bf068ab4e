import JobModel
import Screen

/// An action of the dashboard, started by a key, a click or the palette.
///
/// Dispatch, the bottom line, refusals, the help page, the palette and `opdash keys` read this one value.
struct Command: Sendable {
  enum Section: String, CaseIterable {
    case moving = "Moving"
    case showing = "Showing"
    case acting = "The tagged jobs, or the cursor's"
    case running = "The run"
    case logging = "The log"
  }

  /// Its name in a settings file and in `opdash keys`.
  let name: String
  let section: Section
  /// The keys that it has unless a settings file gives it others.
  let keys: [Key]
  let help: String
  /// Whether it changes the run, which must be the live one as it is now; the others change what this dashboard shows.
  let changesRun: Bool
  let worksOnHelpPage: Bool
  /// Whether screens name it.
  var isOffered: Predicate = { _ in true }
  private let isPossible: Predicate
  private let refuse: @Sendable (Model) -> String
  private let footerWord: @Sendable (Model) -> String?
  private let body: Body

  typealias Predicate = @Sendable (Model) -> Bool
  typealias Words = @Sendable (Model) -> String?
  /// The notice and the effects of a command that changes the run.
  typealias Answer = (notice: String, effects: [Effect])

  private enum Body {
    case change(@Sendable (inout Model, Duration) -> [Effect])
    case run(@Sendable (Model) -> Answer)
    case jobs(JobAction)
  }

  /// `word` is the bottom line's, which leaves a command without one out.
  init(
    _ name: String, _ section: Section, _ keys: [Key], _ help: String,
    worksOnHelpPage: Bool = false, isEnabled: @escaping Predicate = { _ in true },
    refusal: @escaping @Sendable (Model) -> String = { _ in "" }, word: @escaping Words = { _ in nil },
    effects: @escaping @Sendable (inout Model, Duration) -> [Effect]
  ) {
    (self.name, self.section, self.keys, self.help) = (name, section, keys, help)
    (changesRun, self.worksOnHelpPage) = (false, worksOnHelpPage)
    (isPossible, refuse, footerWord, body) = (isEnabled, refusal, word, .change(effects))
  }

  /// A command that changes only the model.
  init(
    _ name: String, _ section: Section, _ keys: [Key], _ help: String, worksOnHelpPage: Bool = false,
    isEnabled: @escaping Predicate = { _ in true }, refusal: @escaping @Sendable (Model) -> String = { _ in "" },
    word: @escaping Words = { _ in nil }, change: @escaping @Sendable (inout Model, Duration) -> Void
  ) {
    self.init(
      name, section, keys, help, worksOnHelpPage: worksOnHelpPage, isEnabled: isEnabled, refusal: refusal, word: word,
      effects: { model, now in
        change(&model, now)
        return []
      })
  }

  /// A command for the run as a whole.
  init(
    _ name: String, _ keys: [Key], _ help: String, isEnabled: @escaping Predicate,
    refusal: @escaping @Sendable (Model) -> String, word: @escaping Words, answer: @escaping @Sendable (Model) -> Answer
  ) {
    (self.name, section, self.keys, self.help) = (name, .running, keys, help)
    (changesRun, worksOnHelpPage) = (true, false)
    (isPossible, refuse, footerWord, body) = (isEnabled, refusal, word, .run(answer))
  }

  /// A command for the tagged jobs, or the cursor's.
  init(
    _ name: String, _ keys: [Key], _ help: String, isEnabled: @escaping Predicate,
    refusal: @escaping @Sendable (Model) -> String, word: @escaping Words, jobs action: JobAction
  ) {
    (self.name, section, self.keys, self.help) = (name, .acting, keys, help)
    (changesRun, worksOnHelpPage) = (true, false)
    (isPossible, refuse, footerWord, body) = (isEnabled, refusal, word, .jobs(action))
  }

  /// Its effect on jobs, if it acts on the tagged ones or the cursor's.
  var jobs: JobAction? {
    switch body {
    case .change, .run: nil
    case .jobs(let action): action
    }
  }

  func perform(_ model: inout Model, _ now: Duration) -> [Effect] {
    switch body {
    case .change(let effects):
      return effects(&model, now)
    case .run(let answer):
      let (notice, effects) = answer(model.asLive)
      model.say(notice, now)
      return effects
    case .jobs(let action):
      let jobs = action.chosen(in: model)
      guard !action.mustAsk(about: jobs, in: model) else {
        model.ask(self, jobs, now)
        return []
      }
      return action.perform(jobs, &model, now)
    }
  }

  /// Asks a predicate: on a frozen display a command that changes the run is judged by the live one.
  private func judge<Verdict>(_ model: Model, _ predicate: (Model) -> Verdict) -> Verdict {
    changesRun && model.isFrozen ? predicate(model.asLive) : predicate(model)
  }

  func isEnabled(in model: Model) -> Bool {
    (model.page != .help || worksOnHelpPage) && pastRefusal(in: model) == nil && judge(model, isPossible)
  }

  /// The answer to its key while it is not enabled, as specific as possible.
  func refusal(in model: Model) -> String {
    if let past = pastRefusal(in: model) { return past }
    guard let jobs, jobs.question != .approval else { return judge(model, refuse) }
    guard let id = model.targets.first else { return "no job here" }
    return jobs.ability.flatMap { model.run.jobs[id.index].job.work.refusal(of: $0) } ?? judge(model, refuse)
  }

  /// Whether its key works on a screen that is too small for any pane: not if it would change a run that can't be seen,
  /// or open a line to type.
  func worksUnseen(in model: Model) -> Bool {
    if self == .quit { return !Command.quitEscalates(model) }
    return !changesRun && self != .filter && self != .palette
  }

  /// The bottom line's word for it; nil keeps it out, as while it is not enabled.
  func word(in model: Model) -> String? { isEnabled(in: model) ? judge(model, footerWord) : nil }

  static let replayRefusal = "this is a replay: its run can't be changed"

  /// Why it can't change the run while a recording or a past instant is shown; nil where it can.
  private func pastRefusal(in model: Model) -> String? {
    guard changesRun else { return nil }
    if model.isReplay { return Self.replayRefusal }
    if model.attachment == .readOnly { return "attached with --read-only: the run can't be changed from here" }
    guard model.isPast else { return nil }
    let way = model.presentKey.map { ": \($0) returns to the present" } ?? ""
    return "this is the past, which can't be changed\(way)"
  }

  /// Every command, by its priority on the bottom line.
  static let all: [Command] = [
    copy, range, follow, copyPath, firstError, merged, back, cancel, approve, pause, retry, retryDependents,
    retryFailed,
    zoom, fold, zoomIn, zoomOut, zoomAll, filter, next, previous, help, quit, treeOrList, timeline, log, nextPane, tag,
    untag, kill, wrap, list, critical, events, tree, palette, watch, drain, moreSlots, fewerSlots, morePool, fewerPool,
    raise, lower, showStack, tagAll, tagDependents, up, down, pageUp, pageDown, halfUp, halfDown, first, last, left,
    right, sortNext, sortPrevious, invert, copyAll, times, freeze, hold, nextFailure, scrubBack, scrubForward, mouse,
    detach, redraw,
  ]

  /// All commands in the order of the help page: the lines of each section, where commands that belong together share one.
  static let groups: [(section: Section, lines: [(commands: [Command], text: String)])] = [
    (
      .moving,
      [
        ([.up, .down], "up, down"), ([.pageUp, .pageDown, .halfUp, .halfDown], "a page, half"),
        ([.first, .last, .nextFailure], "first, last, next failure"), ([.left, .right], "scroll, time, a branch"),
        ([.zoom, .back, .nextPane], "one job; back; pane"),
      ]
    ),
    (
      .showing,
      [
        ([.list, .tree, .timeline, .critical, .events], "list tree time path events"),
        ([.treeOrList], "tree or list"), ([.filter], "filter, or search the log"),
        ([.sortPrevious, .sortNext, .invert], "sort column; invert"),
        ([.fold], "show or hide rows below"), ([.zoomIn, .zoomOut, .zoomAll], "timeline: in, out, all"),
        ([.freeze, .scrubBack, .scrubForward, .mouse], "freeze; the past; mouse"),
        ([.hold], "hold a replay"),
        ([.help, .palette, .redraw], "help; any action; redraw"),
      ]
    ),
    (
      .acting,
      [
        ([.tag, .tagDependents, .tagAll, .untag], "tag; dependents; all; none"),
        ([.cancel, .kill], "cancel; kill, no grace"), ([.pause, .approve], "pause or resume; approve"),
        ([.retry, .retryDependents], "retry; with dependents"), ([.lower, .raise], "priority down, up"),
        ([.showStack], "where its thread stands"),
      ]
    ),
    (
      .running,
      [
        ([.retryFailed], "retry all failed jobs"),
        ([.fewerSlots, .moreSlots, .fewerPool, .morePool], "slots; units of a pool"),
        ([.drain, .watch], "drain; watch inputs"), ([.quit, .detach], "quit; leave it running"),
      ]
    ),
    (
      .logging,
      [
        ([.log, .merged], "log pane; of many jobs"), ([.next, .previous], "next, previous match"),
        ([.copy, .range, .copyAll, .copyPath], "copy line; mark; all; path"),
        ([.follow, .wrap, .times, .firstError], "follow; wrap; times; error"),
      ]
    ),
  ]
}

extension Command: Hashable, CustomStringConvertible {
  static func == (one: Command, other: Command) -> Bool { one.name == other.name }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }

  var description: String { name }
}

extension Command {
  /// Performs the command, or says why it is not enabled.
  func request(_ model: inout Model, _ now: Duration) -> [Effect] {
    guard isEnabled(in: model) else {
      if model.page != .help { model.say(refusal(in: model), now) }
      return []
    }
    return perform(&model, now)
  }
}
