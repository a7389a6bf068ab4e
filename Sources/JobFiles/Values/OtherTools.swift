/// Words that other tools have for the keys of a job file: make, just, Taskfile, GitHub Actions, GitLab CI, Compose, Procfiles.
struct OtherTools: Sendable {
  /// The advice for a word: `write 'needs'`.
  struct Mend {
    var sentence: String
    /// The key of ours that takes the same values.
    var key: String?

    init(_ sentence: String, key: String? = nil) {
      self.sentence = sentence
      self.key = key
    }
  }

  /// Finds the advice from the value.
  typealias Finder = @Sendable (YAMLNode) -> Mend

  private var finders: [String: Finder] = [:]

  /// `words` are those for each key of ours, separated by blanks.
  ///
  /// `sentences` are for words without a counterpart, and `finders` look at the value. Upper case, '-', '_' and '.' don't count.
  init(_ words: [String: String] = [:], sentences: [String: String] = [:], finders: [String: Finder] = [:]) {
    for (key, words) in words { add(words) { _ in Mend("write '\(key)'", key: key) } }
    for (sentence, words) in sentences { add(words) { _ in Mend(sentence) } }
    for (words, finder) in finders { add(words, finder) }
  }

  private mutating func add(_ words: String, _ finder: @escaping Finder) {
    for word in words.split(separator: " ") { finders[String(word)] = finder }
  }

  /// The advice for an entry whose key is a word of another tool.
  func mend(for entry: YAMLEntry) -> Mend? {
    guard entry.key.utf8.count < 50 else { return nil }
    return finders[String(entry.key.lowercased().filter { $0 != "-" && $0 != "_" && $0 != "." })]?(entry.value)
  }
}
