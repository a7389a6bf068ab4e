import Foundation

/// The tables at the end of an article of a DocC catalogue, which tests write from their own cases.
///
/// Returns what is wrong with the article; with `OPDASH_RECORD=1` in the environment it is written anew first, which is wrong
/// once as well. `article` is relative to the root of the package, and `heading` the first of the tables.
package func faultOfTables(_ tables: String, in article: String, from heading: String) throws -> String? {
  let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  let file = root.deletingLastPathComponent().appending(path: article)
  let text = try String(contentsOf: file, encoding: .utf8)
  guard let start = text.firstRange(of: heading)?.lowerBound else { return "\(article) has no '\(heading)'" }
  if text[start...] == tables { return nil }
  guard ProcessInfo.processInfo.environment["OPDASH_RECORD"] == "1" else {
    return "record \(article) with OPDASH_RECORD=1: it should end with\n\(tables)"
  }
  try Data((text[..<start] + tables).utf8).write(to: file)
  return "recorded \(article); run again without OPDASH_RECORD"
}

/// A table of an article with its heading.
package func articleTable(_ title: String, columns: [String], _ rows: [[String]]) -> String {
  let cells = ([columns, columns.map { _ in "---" }] + rows).map { row in
    "| " + row.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n"
  }
  return "## \(title)\n\n\(cells.joined())"
}
