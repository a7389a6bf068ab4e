import Screen

/// An action with its keys and its line of the help page.
struct Binding: Sendable {
  enum Section: String, CaseIterable {
    case moving = "Moving"
    case showing = "Showing"
    case acting = "The tagged jobs, or the cursor's"
    case running = "The run"
    case logging = "The log"
  }

  /// Whether an action changes the run or only the screen.
  enum Reach {
    /// Only what this dashboard shows; `quit` too, which asks about the live run.
    case screen
    /// The run, which must be the live one as it is now.
    case run
  }

  let action: Action
  var keys: [Key]
  let section: Section
  let reach: Reach
  let help: String
}

/// The keys of every action: the defaults with a person's changes.
///
/// Dispatch, the bottom line, the hints on the screen, the help page, the palette and `opdash keys` all read this one value.
package struct KeyMap: Sendable {
  /// In the order in which the bottom line gives room.
  let bindings: [Binding]
  private let actions: [Key: Action]

  package static let standard = KeyMap()

  /// Replaces the keys of actions, which are given by their raw values.
  ///
  /// A key that is given to one action is taken from the others.
  package init(changes: [String: [Key]] = [:]) {
    let given = Set(changes.values.joined())
    bindings = Self.defaults.map { binding in
      var binding = binding
      binding.keys = changes[binding.action.rawValue] ?? binding.keys.filter { !given.contains($0) }
      return binding
    }
    var actions: [Key: Action] = [:]
    for binding in bindings { for key in binding.keys { actions[key] = binding.action } }
    self.actions = actions
  }

  func action(for key: Key) -> Action? { actions[key] }

  func keys(of action: Action) -> [Key] { bindings.first { $0.action == action }?.keys ?? [] }

  /// An action without a row counts as one that changes the run.
  static func reach(of action: Action) -> Binding.Reach { reaches[action] ?? .run }

  /// The name of the action's first key; nil if it has none.
  func label(_ action: Action) -> String? { keys(of: action).first.map { $0.name() } }

  /// A key with its effect, as in `r retry`; empty if the action has no key.
  func hint(_ action: Action, _ words: String) -> String { label(action).map { "\($0) \(words)" } ?? "" }

  /// An action and its keys, as `opdash keys` prints them and a settings file may change them.
  package struct Entry: Sendable, Equatable {
    /// The heading of the help page under which the action is listed.
    package var section: String
    package var action: String
    package var keys: [Key]
    package var help: String
    package var isChanged: Bool
    /// Whether a settings file must leave the action a key; the palette offers every other one.
    package var isNeeded: Bool
  }

  /// Every action, in the order of the help page.
  package var entries: [Entry] {
    Binding.Section.allCases.flatMap { section in
      zip(bindings, Self.defaults).filter { $0.0.section == section }.map { binding, before in
        Entry(
          section: section.rawValue, action: binding.action.rawValue, keys: binding.keys, help: binding.help,
          isChanged: binding.keys != before.keys, isNeeded: [.quit, .help].contains(binding.action))
      }
    }
  }

  private static let defaults = table.map { Binding(action: $0, keys: $1, section: $2, reach: $3, help: $4) }

  private static let reaches = Dictionary(table.map { ($0.0, $0.3) }) { first, _ in first }

  private static let table: [(Action, [Key], Binding.Section, Binding.Reach, String)] = [
    (.copy, [.character("y")], .logging, .screen, "copy line, range or command"),
    (.range, [.character("v")], .logging, .screen, "mark a range of lines"),
    (.follow, [.character("f")], .logging, .screen, "follow the newest line"),
    (.copyPath, [.character("F")], .logging, .screen, "copy the path of its file"),
    (.firstError, [.character("E")], .logging, .screen, "to the first error"),
    (.merged, [.character("L")], .logging, .screen, "the log of many, or of one"),
    (.back, [.escape], .moving, .screen, "back one level"),
    (.cancel, [.character("x"), .function(9)], .acting, .run, "cancel"),
    (.approve, [.character("a")], .acting, .run, "approve what waits for it"),
    (.pause, [.character("p"), .function(7)], .acting, .run, "pause or resume"),
    (.retry, [.character("r"), .function(8)], .acting, .run, "retry"),
    (.retryDependents, [.character("R")], .acting, .run, "retry with its dependents"),
    (.retryFailed, [.control("r")], .running, .run, "retry all failed jobs"),
    (.zoom, [.enter], .showing, .screen, "one job on the whole screen"),
    (.fold, [.character("e")], .showing, .screen, "show or hide what is under a row"),
    (.zoomIn, [.character("i")], .showing, .screen, "timeline: zoom in"),
    (.zoomOut, [.character("o")], .showing, .screen, "timeline: zoom out"),
    (.zoomAll, [.character("0")], .showing, .screen, "timeline: the whole run"),
    (.filter, [.character("/"), .function(3), .function(4)], .showing, .screen, "filter, or search the log"),
    (.next, [.character("n")], .logging, .screen, "next match"),
    (.previous, [.character("N")], .logging, .screen, "match before"),
    (.help, [.character("?"), .function(1)], .showing, .screen, "this page"),
    (.quit, [.character("q"), .function(10)], .running, .screen, "quit; asks while jobs run"),
    (.treeOrList, [.character("t"), .function(5)], .showing, .screen, "tree or list"),
    (.timeline, [.character("3")], .showing, .screen, "the timeline"),
    (.log, [.character("l")], .showing, .screen, "log: half, full, off"),
    (.nextPane, [.tab, .backTab], .moving, .screen, "the other pane"),
    (.tag, [.character(" ")], .acting, .screen, "tag, and move to the next"),
    (.untag, [.character("U")], .acting, .screen, "untag all"),
    (.kill, [.character("X")], .acting, .run, "kill now, without grace"),
    (.wrap, [.character("w")], .logging, .screen, "wrap long lines"),
    (.list, [.character("1")], .showing, .screen, "the list"),
    (.critical, [.character("4")], .showing, .screen, "the critical path"),
    (.events, [.character("5")], .showing, .screen, "the events"),
    (.tree, [.character("2")], .showing, .screen, "the tree"),
    (.palette, [.character(":")], .showing, .screen, "every action by its name"),
    (.drain, [.character("P")], .running, .run, "drain: start nothing new"),
    (.moreSlots, [.character("+"), .character("=")], .running, .run, "one slot more"),
    (.fewerSlots, [.character("-")], .running, .run, "one slot fewer"),
    (.morePool, [.character(")")], .running, .run, "one unit more in the job's pool"),
    (.fewerPool, [.character("(")], .running, .run, "one unit fewer in the job's pool"),
    (.raise, [.character("]")], .acting, .run, "priority up"),
    (.lower, [.character("[")], .acting, .run, "priority down"),
    (.tagAll, [.character("A")], .acting, .screen, "tag all shown"),
    (.tagDependents, [.character("c")], .acting, .screen, "tag with its dependents"),
    (.up, [.up, .character("k")], .moving, .screen, "up"),
    (.down, [.down, .character("j")], .moving, .screen, "down"),
    (.pageUp, [.pageUp], .moving, .screen, "a page up"),
    (.pageDown, [.pageDown], .moving, .screen, "a page down"),
    (.halfUp, [.control("u")], .moving, .screen, "half a page up"),
    (.halfDown, [.control("d")], .moving, .screen, "half a page down"),
    (.first, [.character("g"), .home], .moving, .screen, "to the first"),
    (.last, [.character("G"), .end], .moving, .screen, "to the last, or follow"),
    (.left, [.left], .moving, .screen, "left: long lines, time, a branch"),
    (.right, [.right], .moving, .screen, "right"),
    (.sortNext, [.character(">"), .function(6)], .showing, .screen, "sort by the next column"),
    (.sortPrevious, [.character("<")], .showing, .screen, "sort by the column before"),
    (.invert, [.character("I")], .showing, .screen, "turn the order round"),
    (.copyAll, [.character("Y")], .logging, .screen, "copy the whole log"),
    (.times, [.character("T")], .logging, .screen, "times: relative, clock, off"),
    (.freeze, [.character("Z")], .showing, .screen, "freeze the display"),
    (.scrubBack, [.character(",")], .showing, .screen, "an instant before; End is live"),
    (.scrubForward, [.character(".")], .showing, .screen, "an instant after"),
    (.mouse, [.character("m")], .showing, .screen, "give or take the mouse"),
    (.redraw, [.control("l")], .showing, .screen, "draw the screen anew"),
  ]
}
