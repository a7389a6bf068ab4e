import JobModel

/// The jobs that the list shows: terms that must all match, as in `fetch state:failed !kind:shell`.
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
      // An incomplete term excludes nothing.
      switch test {
      case .name(let needle) where needle.isEmpty: return nil
      case .state(""), .kind(""): return nil
      default: return Term(test: test, isInverted: isInverted)
      }
    }
  }

  var isEmpty: Bool { terms.isEmpty }

  /// `name` is the job's name as a haystack; an event of the run itself has no state and no kind.
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

/// A text to search for, ignoring case.
struct Needle: Equatable {
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.lowercased().utf8) }

  var isEmpty: Bool { bytes.isEmpty }

  /// A text in the form in which `isFound(in:)` searches.
  static func haystack(_ text: String) -> [UInt8] { Array(text.lowercased().utf8) }

  func isFound(in haystack: [UInt8]) -> Bool {
    guard let first = bytes.first else { return true }
    guard haystack.count >= bytes.count else { return false }
    return haystack.withUnsafeBufferPointer { hay in
      bytes.withUnsafeBufferPointer { needle in
        for start in 0...(hay.count - needle.count) where hay[start] == first {
          var length = 1
          while length < needle.count, hay[start + length] == needle[length] { length += 1 }
          if length == needle.count { return true }
        }
        return false
      }
    }
  }
}
