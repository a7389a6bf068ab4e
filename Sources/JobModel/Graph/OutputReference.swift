/// A value of another job's `$OPDASH_OUTPUT`, which the texts of a job name as `${jobs.NAME.VALUE}`.
package struct OutputReference: Sendable, Hashable {
  /// As it stands in the texts.
  package var text: String
  package var job: JobID
  package var name: String

  package init(_ text: String, job: JobID, name: String) {
    self.text = text
    self.job = job
    self.name = name
  }
}

extension Job {
  /// The references in its work; its condition and its question may have others.
  package var outputsInWork: [OutputReference] { outputs(inWorkAnd: []) }

  /// The references in the question and the work that a person approves together.
  package var outputsToApprove: [OutputReference] { outputs(inWorkAnd: [approval].compactMap(\.self)) }

  private func outputs(inWorkAnd others: [String]) -> [OutputReference] {
    guard !outputs.isEmpty else { return [] }
    var texts = others
    func note(_ text: String) -> String {
      texts.append(text)
      return text
    }
    _ = work.mapTexts(note, path: note)
    return outputs.filter { output in texts.contains { $0[...].firstPlace(of: output.text) != nil } }
  }
}

extension String {
  /// The text with the value of each key in its place; inserted values are not searched for keys.
  package func replacing(_ values: [(key: String, value: String)]) -> String {
    var result = ""
    var rest = self[...]
    while true {
      let found = values.compactMap { entry in rest.firstPlace(of: entry.key).map { (place: $0, value: entry.value) } }
      guard let first = found.min(by: { $0.place.lowerBound < $1.place.lowerBound }) else { return result + rest }
      result += rest[..<first.place.lowerBound] + first.value
      rest = rest[first.place.upperBound...]
    }
  }
}

extension Substring {
  /// Where a text of whole characters stands first, whatever follows it: a combining mark joins its last character.
  fileprivate func firstPlace(of text: String) -> Range<Index>? {
    unicodeScalars.firstRange(of: Array(text.unicodeScalars))
  }
}
