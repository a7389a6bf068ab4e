import Basics
import CVersion

/// A page of help as the source of a man page, section 1.
struct ManPage {
  let page: HelpText

  /// The name of the file, as in `opdash-run.1`.
  var fileName: String { "\(title).1" }

  private var title: String { page.name.escaping([" ": "-"]) }

  var text: String {
    var lines = [
      ".TH \(title.uppercased()) 1 \"\" \"\(Version.name)\" \"User Commands\"", ".SH NAME",
      "\(Self.escaped(title)) \\- \(Self.escaped(page.summary))",
    ]
    if !page.usage.isEmpty { lines += [".SH SYNOPSIS", ".B \(Self.argument(page.usage))"] }
    lines += [".SH DESCRIPTION"] + page.introduction.flatMap { Self.lines($0) }
    for section in page.sections {
      lines += [".SH \(Self.argument(section.title.uppercased()))"] + section.blocks.flatMap { Self.lines($0) }
    }
    return lines.joined(separator: "\n")
  }

  private static func lines(_ block: HelpText.Block) -> [String] {
    switch block {
    case .text(let text): return [".PP", line(text)]
    case .table(let rows): return rows.flatMap { [".TP", ".B \(argument($0.term))", line($0.meaning)] }
    case .code(let text):
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line(String($0)) }
      return [".PP", ".RS 4", ".nf"] + lines + [".fi", ".RE"]
    }
  }

  /// A dot or a quote at the start would be a request.
  private static func line(_ text: String) -> String {
    let escaped = escaped(text)
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }

  /// A text as an argument of a request, where a quotation mark groups words.
  private static func argument(_ text: String) -> String { escaped(text).escaping(["\"": "\\(dq"]) }

  private static func escaped(_ text: String) -> String {
    text.escaping(["\\": "\\e", "-": "\\-", "…": "..."])
  }
}

/// The version of the program, and the commit that it was built from.
enum Version {
  static let name = "opdash 0.2.0"

  /// The output of `--version`.
  static let text = line(commit: String(cString: opdash_commit()))

  /// `commit` is empty unless `Demo/install` or `Demo/run` built the program.
  static func line(commit: String) -> String {
    commit.isEmpty ? "\(name) (built from an unknown commit)" : "\(name) (\(commit))"
  }
}
