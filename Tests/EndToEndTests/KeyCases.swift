import Foundation
import Support

@testable import Dashboard

/// What a person sees when a key does its work, in the run of Fixtures/keys.yml at 110x30.
///
/// For each of an action's keys: `before` is pressed and `ready` waited for, and that `seen` does not hold yet; then the key
/// itself is pressed and `seen` waited for; `after` leads back, until `home` holds.
struct KeyCase: Sendable {
  /// The screen before the key, and now.
  typealias Change = @Sendable (_ before: ScreenText, _ now: ScreenText) -> Bool

  var before: [String] = []
  var ready: @Sendable (ScreenText) -> Bool = { _ in true }
  var seen: Change
  var after: [String] = []
  var home: @Sendable (ScreenText) -> Bool = { _ in true }
  /// Whether another program writes over the screen before the key.
  var isDefaced = false
  /// Whether only a notice shows it, which goes after four seconds: the key is pressed until that is seen.
  var isNotice = false

  /// A new action has no case until it has one here: the test of it fails.
  static func of(_ action: Command) -> KeyCase? {
    moving[action] ?? showing[action] ?? acting[action] ?? running[action] ?? logging[action]
  }

  // MARK: Moving

  /// The first row is the failure, the last one what waits.
  private static let moving: [Command: KeyCase] = [
    .up: KeyCase(before: ["G"], ready: { $0.isAtEnd }, seen: { $1.place == $0.place - 1 }),
    .down: KeyCase(before: ["g"], ready: { $0.place == 1 }, seen: { $1.place == 2 }),
    .pageUp: KeyCase(before: ["G"], ready: { $0.isAtEnd }, seen: { $1.place < $0.place - 6 }),
    .pageDown: KeyCase(before: ["g"], ready: { $0.place == 1 }, seen: { $1.place > 7 }),
    .halfUp: KeyCase(before: ["G"], ready: { $0.isAtEnd }, seen: { ($0.place - 9...$0.place - 3).contains($1.place) }),
    .halfDown: KeyCase(before: ["g"], ready: { $0.place == 1 }, seen: { (4...10).contains($1.place) }),
    .first: KeyCase(before: ["G"], ready: { $0.isAtEnd }, seen: { $1.place == 1 }),
    .last: KeyCase(before: ["g"], ready: { $0.place == 1 }, seen: { $1.isAtEnd }),
    // Long lines are shifted by eight cells.
    .left: KeyCase(
      before: ["g", "Tab", "Right"], ready: { !$0.text.contains("row 9 is a line") },
      seen: { $1.text.contains("row 9 is a line") }, after: ["Tab"]),
    .right: KeyCase(
      before: ["g", "Tab"], ready: { $0.text.contains("row 9 is a line") },
      seen: { !$1.text.contains("row 9 is a line") && $1.text.contains("a line of") }, after: ["Left", "Tab"]),
    .back: KeyCase(
      before: ["?"], ready: { $0.text.contains("timeline: ") }, seen: { !$1.text.contains("timeline: ") }),
    .nextFailure: KeyCase(before: ["G"], ready: { $0.isAtEnd }, seen: { $1.place == 1 }),
    .nextPane: KeyCase(
      before: ["g"], ready: { $0.keys.contains("/ filter") }, seen: { $1.keys.contains("y copy line") }, after: ["Tab"]),
  ]

  // MARK: Showing

  private static let showing: [Command: KeyCase] = [
    .zoom: KeyCase(
      before: ["g"], seen: { $1.text.contains("Needed by") && $1.row("works-1") == nil }, after: ["Escape"]),
    .filter: KeyCase(seen: { $1.keys.hasPrefix(" /") && $1.keys.contains("Esc clears") }, after: ["Escape"]),
    .sortNext: KeyCase(seen: { $1.text.contains("sorted by name") }, after: ["<"]),
    .sortPrevious: KeyCase(seen: { $1.text.contains("sorted by time left") }, after: [">"]),
    .invert: KeyCase(seen: { $1.text.contains("sorted by attention, inverted") }, after: ["I"]),
    .list: KeyCase(before: ["2"], ready: { $0.text.contains("tree by needs") }, seen: { $1.isWhole }),
    .tree: KeyCase(seen: { $1.text.contains("tree by needs") }, after: ["1"]),
    .timeline: KeyCase(seen: { $1.text.contains("◆ critical") }, after: ["1"]),
    .critical: KeyCase(seen: { $1.text.contains(" SAVES") }, after: ["1"]),
    .events: KeyCase(seen: { $1.text.contains(" EVENT") && $1.text.contains("running") }, after: ["1"]),
    .treeOrList: KeyCase(seen: { $1.text.contains("tree by needs") }, after: ["1"]),
    .fold: KeyCase(before: ["g"], seen: { $1.text.contains("└ left") }, after: ["e"]),
    .zoomIn: KeyCase(
      before: ["3"], ready: { $0.keys.contains("o out") && !$0.keys.contains("0 all") },
      seen: { $1.keys.contains("0 all") },
      after: ["0", "1"]),
    .zoomOut: KeyCase(
      before: ["3", "i"], ready: { $0.scale != nil && $0.keys.contains("0 all") },
      seen: { $0.scale != $1.scale }, after: ["0", "1"]),
    .zoomAll: KeyCase(
      before: ["3", "i"], ready: { $0.keys.contains("0 all") },
      seen: { $1.keys.contains("o out") && !$1.keys.contains("0 all") }, after: ["1"]),
    .palette: KeyCase(seen: { $1.text.contains("─ actions ─") }, after: ["Escape"]),
    .log: KeyCase(
      ready: { $0.isWhole && $0.text.contains(" log: ") }, seen: { !$1.isWhole && $1.text.contains(" log: ") },
      after: ["l", "l"]),
    .help: KeyCase(seen: { $1.text.contains("timeline: ") }, after: ["Escape"]),
    .freeze: KeyCase(seen: { $1.text.contains("FROZEN") }, after: ["Z"]),
    .scrubBack: KeyCase(seen: { $1.past != nil }, after: ["End"], home: { $0.past == nil }),
    // An instant later, or the present.
    .scrubForward: KeyCase(
      before: [","], ready: { $0.past != nil }, seen: { $1.past != $0.past }, after: ["End"], home: { $0.past == nil }),
    .mouse: KeyCase(seen: { $1.text.contains("the mouse is the terminal's") }, after: ["m"]),
    .redraw: KeyCase(ready: { $0.text.contains("DEFACED") }, seen: { !$1.text.contains("DEFACED") }, isDefaced: true),
  ]

  // MARK: Acting on jobs

  /// The first row is the failure, the second a job at work, the last one waits.
  private static let acting: [Command: KeyCase] = [
    .tag: KeyCase(before: ["g"], seen: { $1.text.contains("1 tagged") }, after: ["U"]),
    .tagAll: KeyCase(before: ["g"], seen: { $1.text.contains(" tagged") }, after: ["U"]),
    .tagDependents: KeyCase(before: ["g"], seen: { $1.text.contains("2 tagged") }, after: ["U"]),
    .untag: KeyCase(
      before: ["g", "Space"], ready: { $0.text.contains("1 tagged") }, seen: { !$1.text.contains("1 tagged") }),
    .cancel: KeyCase(before: ["g", "j"], ready: { $0.place == 2 }, seen: { $1.done == $0.done + 1 }),
    // A command has no thread in this program; EmbedTests has an operation that has one.
    .showStack: KeyCase(seen: { $1.text.contains("a debugger shows where that stands") }),
    .kill: KeyCase(before: ["g", "j"], ready: { $0.place == 2 }, seen: { $1.done == $0.done + 1 }),
    .pause: KeyCase(
      before: ["g", "j"], ready: { $0.place == 2 && !$0.text.contains("1 paused") },
      seen: { $1.text.contains("1 paused") },
      after: ["p"], home: { !$0.text.contains("1 paused") }),
    // It runs again, and fails again, once it has a slot; others that stand ready have theirs first.
    .retry: KeyCase(
      before: ["g"], ready: { $0.text.contains("1 failed") }, seen: { !$1.text.contains("1 failed") },
      after: Array(repeating: "+", count: 8), home: { $0.text.contains("1 failed") }),
    .retryDependents: KeyCase(
      before: ["g"], ready: { $0.text.contains("1 failed") && $0.text.contains("1 skipped") },
      seen: { !$1.text.contains("1 skipped") }),
    .retryFailed: KeyCase(
      before: ["g"], ready: { $0.text.contains("1 failed") }, seen: { !$1.text.contains("1 failed") }),
    .approve: KeyCase(
      before: ["g", "j", "x"], ready: { $0.text.contains("asks asks: Go?") },
      seen: { $1.keys.contains("Approve asks") },
      after: ["Escape"]),
    .raise: KeyCase(before: ["G"], ready: { $0.isAtEnd }, seen: { $1.keys.contains("waits: priority") }),
    .lower: KeyCase(before: ["G"], ready: { $0.isAtEnd }, seen: { $1.keys.contains("waits: priority") }),
  ]

  // MARK: The run

  private static let running: [Command: KeyCase] = [
    // Where the program was alone in its terminal, tmux scrolls the line away.
    .detach: KeyCase(seen: { !$1.text.contains("slots") }),
    .moreSlots: KeyCase(seen: { $1.slots == $0.slots + 1 }),
    .fewerSlots: KeyCase(seen: { $1.slots == $0.slots - 1 }, after: ["+"]),
    .morePool: KeyCase(seen: { $1.keys.contains("pool heavy: 3 units") }),
    .fewerPool: KeyCase(seen: { $1.keys.contains("pool heavy: 1 unit") }),
    .watch: KeyCase(seen: { $1.keys.contains("inputs are watched") }),
    .drain: KeyCase(seen: { $1.text.contains("DRAIN") }, after: ["P"]),
    .quit: KeyCase(seen: { $1.keys.contains("q cancels and quits") }, after: ["Escape"]),
  ]

  // MARK: The log

  /// Of the failure.
  private static let logging: [Command: KeyCase] = [
    .next: KeyCase(
      before: ["g", "Tab", "/", "w", "Enter"], ready: { $0.text.contains("/w 9 of 9") },
      seen: { $1.text.contains("/w 1 of 9") }, after: ["Escape", "Escape"]),
    .previous: KeyCase(
      before: ["g", "Tab", "/", "w", "Enter"], ready: { $0.text.contains("/w 9 of 9") },
      seen: { $1.text.contains("/w 8 of 9") }, after: ["Escape", "Escape"]),
    .wrap: KeyCase(before: ["g"], seen: { $1.text.contains("wrap  following") }, after: ["w"]),
    .follow: KeyCase(
      before: ["g"], ready: { $0.text.contains("following  9 lines") },
      seen: { !$1.text.contains("following  9 lines") && $1.text.contains("9 lines") }, after: ["f"]),
    .copy: KeyCase(before: ["g"], seen: { $1.keys.contains("copied") }, isNotice: true),
    .copyAll: KeyCase(before: ["g"], seen: { $1.keys.contains("copied") }, isNotice: true),
    .copyPath: KeyCase(before: ["g"], seen: { $1.keys.contains("copied") }, isNotice: true),
    .range: KeyCase(
      before: ["g", "Tab"], ready: { $0.keys.contains("y copy line") }, seen: { $1.keys.contains("end range") },
      after: ["Escape", "Escape"]),
    .firstError: KeyCase(
      before: ["g"], seen: { $1.keys.contains("no error here") || $1.keys.contains("first error") }, isNotice: true),
    .merged: KeyCase(before: ["g"], seen: { $1.keys.contains("the log of ") }),
    .times: KeyCase(
      before: ["g"], ready: { $0.time(of: "row 9") != nil }, seen: { $0.time(of: "row 9") != $1.time(of: "row 9") },
      after: ["T", "T"]),
  ]
}

extension ScreenText {
  /// The bottom line.
  var keys: String { lines.last ?? "" }
  /// The cursor's row in the list, from 1.
  var place: Int { numbers(after: "sorted by attention  ").first ?? 0 }
  var isAtEnd: Bool { place > 1 && place == numbers(after: "sorted by attention  ").last }
  var done: Int { lines.first.flatMap { $0.firstMatch(of: /(\d+)( of |\/)\d+ done/) }.flatMap { Int($0.1) } ?? 0 }
  /// The past instant that is shown.
  var past: Substring? { text.firstMatch(of: /PAST: the run at (\S+)/)?.1 }
  var slots: Int { numbers(after: "slots ").last ?? 0 }
  /// What stands in the timeline's last line for the time that a cell is.
  var scale: Substring? { text.range(of: "▏").map { text[$0.upperBound...].prefix { $0 != " " } } }

  /// What stands before a line of the log.
  func time(of line: String) -> Substring? {
    lines.first { $0.contains(line) }.flatMap { text in text.range(of: line).map { text[..<$0.lowerBound] } }
  }

  /// As in `done 4/38`.
  private func numbers(after word: String) -> [Int] {
    guard let place = text.range(of: word) else { return [] }
    return text[place.upperBound...].prefix { $0.isNumber || $0 == "/" }.split(separator: "/").compactMap { Int($0) }
  }
}
