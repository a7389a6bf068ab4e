import JobModel

/// Which jobs the list shows: words that must all hold, as in `fetch state:failed !kind:shell`.
struct JobFilter: Equatable {
  private enum Test: Equatable {
    case name(Needle)
    case state(String)
    case kind(String)
  }

  private struct Term: Equatable {
    var test: Test
    var isInverted: Bool
  }

  let text: String
  private let terms: [Term]

  static let everything = JobFilter("")

  init(_ text: String) {
    self.text = text
    terms = text.split(separator: " ").compactMap { word in
      let isInverted = word.hasPrefix("!")
      let rest = isInverted ? word.dropFirst() : word
      let test: Test =
        if rest.hasPrefix("state:") {
          .state(rest.dropFirst(6).lowercased())
        } else if rest.hasPrefix("kind:") {
          .kind(rest.dropFirst(5).lowercased())
        } else {
          .name(Needle(String(rest)))
        }
      // A term that is still being typed shuts nothing out.
      switch test {
      case .name(let needle) where needle.isEmpty: return nil
      case .state(""), .kind(""): return nil
      default: return Term(test: test, isInverted: isInverted)
      }
    }
  }

  var isEmpty: Bool { terms.isEmpty }

  /// `name` is the job's name as a haystack; what is of no job has no state and no kind.
  func admits(name: [UInt8], state: StateClass?, kind: String) -> Bool {
    terms.allSatisfy { term in
      let holds =
        switch term.test {
        case .name(let needle): needle.isFound(in: name)
        case .state(let word): state.map { $0.names.contains { $0.hasPrefix(word) } } ?? false
        case .kind(let word): kind.hasPrefix(word)
        }
      return holds != term.isInverted
    }
  }
}
