import Testing

@testable import opdash

struct ShellQuotesTests {
  private func script(_ command: String, _ argument: String = "a b") throws -> String {
    try EachTemplate(command).script(for: [Array(argument.utf8)], number: 1)
  }

  private func quoted(_ text: String, _ place: ShellQuotes.Place = .init()) -> String {
    String(decoding: place.quoted(Array(text.utf8)[...]), as: UTF8.self)
  }

  @Test(arguments: [
    // A word of this name that is an argument is no `case`, whose patterns end with a bracket.
    (#"x "$(echo case)" {}"#, #"x "$(echo case)" 'a b'"#), (#"x "$({} case)" {}"#, #"x "$('a b' case)" 'a b'"#),
    (#"x "$(a; case y in y) z {};; esac)" {}"#, #"x "$(a; case y in y) z 'a b';; esac)" 'a b'"#),
    (#"x "$(if case y in y) a;; esac then z {}; fi)" {}"#, #"x "$(if case y in y) a;; esac then z 'a b'; fi)" 'a b'"#),
    // The end of a placeholder is that of no blank, after which a comment may begin.
    ("x {}# {}", "x 'a b'# 'a b'"), ("x {} # {}", "x 'a b' # {}"), ("x; # {}\nx {}", "x; # {}\nx 'a b'"),
    (#"x \' {} \" {}"#, #"x \' 'a b' \" 'a b'"#), (#"x "\"{}""#, #"x "\"a b""#),
    (#"x "`y '{}'`""#, #"x "`y 'a b'`""#), ("(x; (y {}); {})", "(x; (y 'a b'); 'a b')"),
  ])
  func anArgumentIsQuotedForItsPlace(command: String, text: String) throws {
    #expect(try script(command) == text)
  }

  @Test(arguments: ["if", "case", "function", "until"]) func aKeywordIsQuoted(word: String) {
    #expect(quoted(word) == "'\(word)'")
    #expect(quoted(word + "s") == word + "s")
  }

  @Test func inDoubleQuotesFourCharactersAreEscaped() {
    let place = ShellQuotes.Place(quotes: .double)
    #expect(quoted(#"a\b"c$d`e'f"#, place) == #"a\\b\"c\$d\`e'f"#)
    #expect(quoted("", place).isEmpty)
    #expect(quoted("") == "''")
  }

  @Test func eachBackquoteTakesAwayOneLevelOfBackslashes() {
    #expect(quoted("a$b", ShellQuotes.Place(quotes: .none, backquotes: 1)) == #"'a\$b'"#)
    #expect(quoted("a$b", ShellQuotes.Place(quotes: .double, backquotes: 1)) == #"a\\\$b"#)
  }
}
