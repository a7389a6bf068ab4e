/// The fault of an invalid regular expression, if its brackets and repetitions show it.
struct PatternFault {
  /// The place in the text, in Unicode scalars from 0.
  let offset: Int
  /// The fault at this place, and the advice.
  let message: String

  /// The fault of a text that is known to be no regular expression; nil if it is of another kind.
  init?(in pattern: String) {
    let scalars = Array(pattern.unicodeScalars)
    var open: [Int] = []
    /// Whether something stands before that can be repeated.
    var isRepeatable = false
    var index = 0
    while index < scalars.count {
      switch scalars[index] {
      case "\\":
        guard index + 1 < scalars.count else {
          self.init(index, "it ends with '\\', which begins an escape: write '\\\\' for a backslash")
          return
        }
        index += 1
        isRepeatable = true
      case "[":
        guard let end = Self.endOfSet(scalars, from: index) else {
          self.init(index, "this '[' is never closed: add ']', or write '\\[' for a bracket")
          return
        }
        index = end
        isRepeatable = true
      case "(":
        open.append(index)
        isRepeatable = false
        // The character after `(?` doesn't repeat anything.
        if index + 1 < scalars.count, scalars[index + 1] == "?" { index += 1 }
      case ")":
        guard open.popLast() != nil else {
          self.init(index, "this ')' closes no group: delete it, or write '\\)' for a bracket")
          return
        }
        isRepeatable = true
      case "|": isRepeatable = false
      case "*", "+", "?":
        guard isRepeatable else {
          self.init(
            index, "'\(scalars[index])' has nothing before it to repeat: write '\\\(scalars[index])' for the character")
          return
        }
      case "{":
        let isCount = scalars[(index + 1)...].first.map { ("0"..."9").contains($0) } ?? false
        guard isRepeatable, isCount else {
          self.init(index, "this '{' begins no number of repetitions: write '\\{' for a brace")
          return
        }
      default: isRepeatable = true
      }
      index += 1
    }
    guard let last = open.last else { return nil }
    self.init(last, "this '(' is never closed: add ')', or write '\\(' for a bracket")
  }

  private init(_ offset: Int, _ message: String) {
    self.offset = offset
    self.message = message
  }

  /// The place of the `]` of a set, which may hold others.
  private static func endOfSet(_ scalars: [Unicode.Scalar], from start: Int) -> Int? {
    var depth = 0
    var index = start
    while index < scalars.count {
      switch scalars[index] {
      case "\\": index += 1
      case "[": depth += 1
      case "]":
        depth -= 1
        if depth == 0 { return index }
      default: break
      }
      index += 1
    }
    return nil
  }
}
