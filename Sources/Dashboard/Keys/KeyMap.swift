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

  let action: Action
  var keys: [Key]
  let section: Section
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

  private static let defaults = table.map { Binding(action: $0, keys: $1, section: $2, help: $3) }

  private static let table: [(Action, [Key], Binding.Section, String)] = [
    (.copy, [.character("y")], .logging, "copy line, range or command"),
    (.range, [.character("v")], .logging, "mark a range of lines"),
    (.follow, [.character("f")], .logging, "follow the newest line"),
    (.copyPath, [.character("F")], .logging, "copy the path of its file"),
    (.firstError, [.character("E")], .logging, "to the first error"),
    (.merged, [.character("L")], .logging, "the log of many, or of one"),
    (.back, [.escape], .moving, "back one level"),
    (.cancel, [.character("x"), .function(9)], .acting, "cancel"),
    (.approve, [.character("a")], .acting, "approve what waits for it"),
    (.pause, [.character("p"), .function(7)], .acting, "pause or resume"),
    (.retry, [.character("r"), .function(8)], .acting, "retry"),
    (.retryDependents, [.character("R")], .acting, "retry with its dependents"),
    (.retryFailed, [.control("r")], .running, "retry all failed jobs"),
    (.zoom, [.enter], .showing, "one job on the whole screen"),
    (.fold, [.character("e")], .showing, "show or hide what is under a row"),
    (.zoomIn, [.character("i")], .showing, "timeline: zoom in"),
    (.zoomOut, [.character("o")], .showing, "timeline: zoom out"),
    (.zoomAll, [.character("0")], .showing, "timeline: the whole run"),
    (.filter, [.character("/"), .function(3), .function(4)], .showing, "filter, or search the log"),
    (.next, [.character("n")], .logging, "next match"),
    (.previous, [.character("N")], .logging, "match before"),
    (.help, [.character("?"), .function(1)], .showing, "this page"),
    (.quit, [.character("q"), .function(10)], .running, "quit; asks while jobs run"),
    (.treeOrList, [.character("t"), .function(5)], .showing, "tree or list"),
    (.timeline, [.character("3")], .showing, "the timeline"),
    (.log, [.character("l")], .showing, "log: half, full, off"),
    (.nextPane, [.tab, .backTab], .moving, "the other pane"),
    (.tag, [.character(" ")], .acting, "tag, and move to the next"),
    (.untag, [.character("U")], .acting, "untag all"),
    (.kill, [.character("X")], .acting, "kill now, without grace"),
    (.wrap, [.character("w")], .logging, "wrap long lines"),
    (.list, [.character("1")], .showing, "the list"),
    (.critical, [.character("4")], .showing, "the critical path"),
    (.events, [.character("5")], .showing, "the events"),
    (.tree, [.character("2")], .showing, "the tree"),
    (.palette, [.character(":")], .showing, "every action by its name"),
    (.drain, [.character("P")], .running, "drain: start nothing new"),
    (.moreSlots, [.character("+"), .character("=")], .running, "one slot more"),
    (.fewerSlots, [.character("-")], .running, "one slot fewer"),
    (.morePool, [.character(")")], .running, "one unit more in the job's pool"),
    (.fewerPool, [.character("(")], .running, "one unit fewer in the job's pool"),
    (.raise, [.character("]")], .acting, "priority up"),
    (.lower, [.character("[")], .acting, "priority down"),
    (.tagAll, [.character("A")], .acting, "tag all shown"),
    (.tagDependents, [.character("c")], .acting, "tag with its dependents"),
    (.up, [.up, .character("k")], .moving, "up"),
    (.down, [.down, .character("j")], .moving, "down"),
    (.pageUp, [.pageUp], .moving, "a page up"),
    (.pageDown, [.pageDown], .moving, "a page down"),
    (.halfUp, [.control("u")], .moving, "half a page up"),
    (.halfDown, [.control("d")], .moving, "half a page down"),
    (.first, [.character("g"), .home], .moving, "to the first"),
    (.last, [.character("G"), .end], .moving, "to the last, or follow"),
    (.left, [.left], .moving, "left: long lines, time, a branch"),
    (.right, [.right], .moving, "right"),
    (.sortNext, [.character(">"), .function(6)], .showing, "sort by the next column"),
    (.sortPrevious, [.character("<")], .showing, "sort by the column before"),
    (.invert, [.character("I")], .showing, "turn the order round"),
    (.copyAll, [.character("Y")], .logging, "copy the whole log"),
    (.times, [.character("T")], .logging, "times: relative, clock, off"),
    (.freeze, [.character("Z")], .showing, "freeze the display"),
    (.scrubBack, [.character(",")], .showing, "an instant before; End is live"),
    (.scrubForward, [.character(".")], .showing, "an instant after"),
    (.mouse, [.character("m")], .showing, "give or take the mouse"),
    (.redraw, [.control("l")], .showing, "draw the screen anew"),
  ]
}
