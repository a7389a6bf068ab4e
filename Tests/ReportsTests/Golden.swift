import Foundation
import Testing

/// Compares text with the file of that name in Goldens.
///
/// With OPDASH_RECORD=1 in the environment it writes the file instead, and the run that records fails.
func expectGolden(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
  let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Goldens/\(name)")
  if ProcessInfo.processInfo.environment["OPDASH_RECORD"] == "1" {
    do {
      try Data(text.utf8).write(to: file)
      Issue.record("recorded \(name); run again without OPDASH_RECORD", sourceLocation: sourceLocation)
    } catch {
      Issue.record("\(name) can't be written: \(error)", sourceLocation: sourceLocation)
    }
    return
  }
  guard let data = try? Data(contentsOf: file) else {
    Issue.record("there is no golden \(name); record it with OPDASH_RECORD=1", sourceLocation: sourceLocation)
    return
  }
  let expected = String(decoding: data, as: UTF8.self)
  guard text != expected else { return }
  let (got, wanted) = (
    text.split(separator: "\n", omittingEmptySubsequences: false),
    expected.split(separator: "\n", omittingEmptySubsequences: false)
  )
  let line = zip(got, wanted).firstIndex { $0 != $1 } ?? min(got.count, wanted.count)
  Issue.record(
    """
    \(name) differs from line \(line + 1) on
    golden: \(line < wanted.count ? String(wanted[line]) : "(ends)")
    now:    \(line < got.count ? String(got[line]) : "(ends)")
    """, sourceLocation: sourceLocation)
}

extension Zip2Sequence {
  fileprivate func firstIndex(where isWanted: (Element) -> Bool) -> Int? {
    for (index, element) in self.enumerated() where isWanted(element) { return index }
    return nil
  }
}
