import Screen

/// A page of help, the source of the terminal's page and the man page.
struct HelpText: Equatable {
  enum Block: Equatable {
    /// A paragraph, broken into lines where it is shown.
    case text(String)
    /// Terms with their meanings.
    case table([Row])
    /// Lines that stand as they are.
    case code(String)

    /// A table with `term | meaning` on each line.
    static func rows(_ text: String) -> Block {
      .table(
        text.split(separator: "\n").map { line in
          let parts = line.split(separator: " | ", maxSplits: 1).map(String.init)
          return Row(term: parts[0], meaning: parts[1])
        })
    }
  }

  struct Row: Equatable {
    var term: String
    var meaning: String
  }

  struct Section: Equatable {
    var title: String
    var blocks: [Block]
  }

  /// `opdash run`.
  var name: String
  var summary: String
  /// The text after `usage:`; empty for a page about a subject.
  var usage: String
  /// Before the sections.
  var introduction: [Block]
  var sections: [Section]

  /// The page in lines of at most 80 columns.
  var text: String {
    let opening = usage.isEmpty ? [] : ["usage: \(usage)"]
    let parts =
      opening + introduction.map { Self.text($0, indent: 0) }
      + sections.map { section in
        (["\(section.title):"] + section.blocks.map { Self.text($0, indent: 2) }).joined(separator: "\n")
      }
    return parts.joined(separator: "\n\n")
  }

  private static let width = 80

  private static func text(_ block: Block, indent: Int) -> String {
    switch block {
    case .text(let text): return wrapped(text, indent: indent).joined(separator: "\n")
    case .code(let text):
      return text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.isEmpty ? "" : String(repeating: " ", count: max(indent, 2)) + $0 }.joined(separator: "\n")
    case .table(let rows):
      let column = (rows.map(\.term.count).filter { $0 <= 30 }.max() ?? 0) + 4
      return rows.map { row in
        let lines = wrapped(row.meaning, indent: column)
        let term = "  \(row.term)"
        // A long term has a line of its own.
        guard term.count + 2 <= column else { return ([term] + lines).joined(separator: "\n") }
        let first = term.padded(to: column) + lines[0].dropFirst(column)
        return ([first] + lines.dropFirst()).joined(separator: "\n")
      }.joined(separator: "\n")
    }
  }

  private static func wrapped(_ text: String, indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > width {
        lines.append(margin + line)
        line = ""
      }
      line += line.isEmpty ? String(word) : " \(word)"
    }
    return lines + [margin + line]
  }
}
