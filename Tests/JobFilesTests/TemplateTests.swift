import Testing

@testable import JobFiles

/// The pieces of a text with references.
struct TemplateTests {
  /// Texts in quotes, references in angle brackets with their number, and `open` for one that is not closed.
  private func pieces(_ text: String, refusing refused: String? = nil) -> [String] {
    var pieces: [String] = []
    Template.scan(text) { piece in
      switch piece {
      case .text(let text): pieces.append("'\(text)'")
      case .unclosed: pieces.append("open")
      case .reference(let name, let count):
        pieces.append("<\(name) \(count)>")
        return name != refused
      }
      return true
    }
    return pieces
  }

  @Test(arguments: [
    ("", []), ("a $x $ {", ["'a $x $ {'"]), ("${x}${y}", ["<x 0>", "<y 0>"]), ("a${x}b", ["'a'", "<x 0>", "'b'"]),
    ("${}", ["< 0>"]), ("$", ["'$'"]), ("a$", ["'a$'"]), ("$$", ["'$$'"]), ("é${x}é", ["'é'", "<x 0>", "'é'"]),
    ("$$${x}", ["'$'", "'${x}'"]), ("a ${b", ["'a '", "open", "'b'"]), ("${", ["open"]), ("$${", ["'${'"]),
    ("$${${x}", ["'${'", "<x 0>"]), ("${a${b}", ["<a${b 0>"]),
    // Those of jobs may hold others.
    ("${jobs.a[${m}].v}.", ["<jobs.a[${m}].v 0>", "'.'"]), ("${jobs.a{b}.v}", ["<jobs.a{b 0>", "'.v}'"]),
    ("${jobs.${a}.${b}}x", ["<jobs.${a}.${b} 0>", "'x'"]), ("${jobs.a[${m}", ["open", "'jobs.a['", "<m 0>"]),
    ("${job.a[${m}].v}", ["<job.a[${m 0>", "'].v}'"]),
  ])
  func aTextIsDividedAtItsReferences(text: String, expected: [String]) {
    #expect(pieces(text) == expected)
  }

  @Test func equalReferencesAreCountedWithTheEscapedOnes() {
    #expect(
      pieces("${x} ${x} $${x} ${y} ${x}") == [
        "<x 0>", "' '", "<x 1>", "' '", "'${x} '", "<y 0>", "' '", "<x 3>",
      ])
  }

  @Test func insideOfARefusedReferenceOthersAreFound() {
    #expect(
      pieces("a${x:-${y}}b", refusing: "x:-${y") == ["'a'", "<x:-${y 0>", "'${x:-'", "<y 0>", "'}b'"])
    #expect(pieces("${x}${x}", refusing: "x") == ["<x 0>", "'${x}'", "<x 1>", "'${x}'"])
  }

  @Test func aNameIsNoLongerThanTheLimit() {
    let longest = String(repeating: "a", count: 1023)
    #expect(pieces("${\(longest)}") == ["<\(longest) 0>"])
    #expect(pieces("${\(longest)a}") == ["open", "'\(longest)a}'"])
  }
}
