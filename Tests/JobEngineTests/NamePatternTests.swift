import Basics
import Testing

@testable import JobEngine

/// Which names a pattern matches.
struct NamePatternTests {
  private static let broken = BytePath([0x62, 0xFF])

  @Test(arguments: [
    ("*", "a"), ("*", "é.c"), ("a*", "a"), ("*c", "abc"), ("a*b*c", "aXbYbZc"), ("?", "é"), ("??", "e\u{301}"),
    ("a?c", "abc"), ("[abc]", "b"), ("[a-c]x", "cx"), ("[!a-c]", "d"), ("[^a-c]", "-"), ("[]]", "]"), ("[!]]", "x"),
    ("[a-]", "-"), ("[\\]]", "]"), ("[[:digit:]x]", "7"), ("[[:digit:]x]", "x"), ("[é-ü]", "ö"), ("a\\*", "a*"),
    ("[", "["),
    ("[a", "[a"), ("a[", "a["), ("a\\", "a\\"), (".*", ".a"), (".?", ".a"), ("a*", "a.b"),
  ])
  func aPatternMatchesAName(pattern: String, name: String) {
    #expect(NamePattern(BytePath(pattern)).matches(BytePath(name)))
  }

  @Test(arguments: [
    ("", "a"), ("a", "A"), ("?", ""), ("?", "e\u{301}"), ("é", "e\u{301}"), ("[a-c]", "d"), ("[!a-c]", "a"),
    ("[z-a]", "m"),
    ("*.c", ".c"), ("*", ".a"), ("?a", ".a"), ("[.]a", ".a"), ("[!b]a", ".a"), ("a\\*", "ab"), ("[[:digit:]]", "x"),
    ("a*b", "abc"), ("[a", "a"),
  ])
  func aPatternDoesNotMatchAnotherName(pattern: String, name: String) {
    #expect(!NamePattern(BytePath(pattern)).matches(BytePath(name)))
  }

  @Test(arguments: ["*", "b*", "b?", "b[!a]"]) func aByteThatIsNotTextIsACharacter(pattern: String) {
    #expect(NamePattern(BytePath(pattern)).matches(Self.broken))
  }

  @Test func aByteThatIsNotTextIsNoOtherCharacter() {
    for pattern in ["b", "b??", "bÿ", "b\u{FFFD}", "b[ÿ]"] {
      #expect(!NamePattern(BytePath(pattern)).matches(Self.broken))
    }
    #expect(NamePattern(Self.broken).matches(Self.broken))
  }

  @Test func manyAsterisksTakeNoLongTime() {
    let name = BytePath(String(repeating: "a", count: 255))
    #expect(!NamePattern(BytePath(String(repeating: "a*", count: 120) + "b")).matches(name))
  }
}
