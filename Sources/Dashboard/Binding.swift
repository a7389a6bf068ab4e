import Screen

/// An action with its keys, how it is called, and when it does something.
struct Binding: Sendable {
  enum Section: String, CaseIterable {
    case moving = "Moving"
    case showing = "Showing"
    case acting = "The tagged jobs, or the cursor's"
    case running = "The run"
    case logging = "The log"
  }

  let action: Action
  var keys: [Key]
  let section: Section
  /// A line of the help page.
  let help: String
  /// The bottom line's word for it; nil keeps it out.
  let word: @Sendable (Model) -> String?
  let isEnabled: @Sendable (Model) -> Bool
  /// Said when it is asked for and does nothing.
  let refusal: String

  init(
    _ action: Action, _ keys: [Key], _ section: Section, _ help: String,
    word: String? = nil, refusal: String = "",
    when isEnabled: @escaping @Sendable (Model) -> Bool = { _ in true }
  ) {
    self.init(action, keys, section, help, naming: { _ in word }, refusal: refusal, when: isEnabled)
  }

  init(
    _ action: Action, _ keys: [Key], _ section: Section, _ help: String, naming: @escaping @Sendable (Model) -> String?,
    refusal: String = "", when isEnabled: @escaping @Sendable (Model) -> Bool = { _ in true }
  ) {
    self.action = action
    self.keys = keys
    self.section = section
    self.help = help
    self.word = naming
    self.isEnabled = isEnabled
    self.refusal = refusal
  }

  /// Whether the key does something now; a page that hides the jobs takes no keys for them.
  func isOn(_ model: Model) -> Bool {
    guard model.page == .help else { return isEnabled(model) }
    switch action {
    case .up, .down, .pageUp, .pageDown, .halfUp, .halfDown, .first, .last, .back, .help, .quit, .redraw, .mouse,
      .list, .tree, .timeline, .critical, .events:
      return isEnabled(model)
    default:
      return false
    }
  }

  /// The key as the bottom line names it.
  func label(_ theme: Theme) -> String { keys.first.map { theme.name($0) } ?? "" }

  /// All of its keys, as the help writes them.
  func names(_ theme: Theme) -> String { keys.map { theme.name($0) }.joined(separator: " ") }
}
