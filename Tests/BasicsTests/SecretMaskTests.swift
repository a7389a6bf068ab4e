import Basics
import Foundation
import Support
import Testing

/// Secret values in texts and in bytes that come in chunks.
struct SecretMaskTests {
  private func masked(_ text: String, _ values: [String]) throws -> String {
    try #require(SecretMask(values)).masked(text)
  }

  private func masked(_ chunks: [[UInt8]], _ mask: SecretMask) -> [UInt8] {
    var stream = SecretMask.Stream(mask)
    return chunks.flatMap { stream.mask($0) } + stream.end()
  }

  @Test func eachOccurrenceOfAValueIsReplaced() throws {
    #expect(try masked("a s3cret, s3cret and S3CRET", ["s3cret"]) == "a ***, *** and S3CRET")
    #expect(try masked("s3crets3cret", ["s3cret"]) == "******")
    #expect(try masked("ürgs ö", ["ö", "rgs"]) == "ü*** ***")
    #expect(try masked("", ["x"]).isEmpty)
    #expect(try masked("none here", ["s3cret"]) == "none here")
  }

  @Test func aValueThatBeginsWithAnotherIsReplacedWhole() throws {
    for values in [["abc", "abcdef"], ["abcdef", "abc"]] {
      #expect(try masked("abcdef abcde abc ab", values) == "*** ***de *** ab")
    }
  }

  @Test func ofValuesThatOverlapNothingIsShown() throws {
    #expect(try masked("<abcdefg>", ["abcd", "cdef"]) == "<***g>")
    #expect(try masked("<aaaaa>", ["aa"]) == "<***>")
    #expect(try masked("<abcdef>", ["bcd", "abcdef"]) == "<***>")
    // The longer one does not come.
    #expect(try masked("abcdX", ["abcde", "bc"]) == "a***dX")
  }

  @Test func emptyAndBlankValuesDoNotCount() throws {
    #expect(SecretMask([String]()) == nil)
    #expect(SecretMask(["", " ", "\n\n", "\t"]) == nil)
    #expect(try masked("a b", ["", " ", "b"]) == "a ***")
  }

  private static let key = "-----BEGIN KEY-----\nMIIEvQ\n  IBADAN==  \n}\n-----END KEY-----\n"

  @Test func aValueOfSeveralLinesIsReplacedWholeAndByItsLines() throws {
    #expect(try masked("<\(Self.key)>", [Self.key]) == "<***>")
    let lines = Self.key.replacing("\n", with: "\r\n")
    #expect(try masked(lines, [Self.key]) == "***\r\n***\r\n  ***  \r\n}\r\n***\r\n")
    #expect(try masked("has MIIEvQ}", [Self.key]) == "has ***}")
    #expect(try masked("abc abcd", ["abc\r\nabcd"]) == "abc ***")
  }

  @Test func aValueIsReplacedWhereverItIsDivided() throws {
    let mask = try #require(SecretMask(["s3cret", "s3", Self.key]))
    let text = "\u{0}an s3cret, s3cres3 \(Self.key)-----BEGIN s3cr"
    let expected = Array("\u{0}an ***, ***cre*** ***-----BEGIN ***cr".utf8)
    #expect(Array(mask.masked(text).utf8) == expected)
    let bytes = Array(text.utf8)
    for first in 0...bytes.count {
      #expect(masked([Array(bytes[..<first]), Array(bytes[first...])], mask) == expected)
      for second in first...bytes.count {
        let chunks = [bytes[..<first], bytes[first..<second], bytes[second...]].map { Array($0) }
        #expect(masked(chunks, mask) == expected)
      }
    }
    #expect(masked(bytes.map { [$0] }, mask) == expected)
  }

  @Test func onlyTheBeginningOfAValueIsHeldBack() throws {
    var stream = SecretMask.Stream(try #require(SecretMask(["s3cret", "cretin"])))
    func give(_ text: String) -> String { String(decoding: stream.mask(Array(text.utf8)), as: UTF8.self) }
    #expect(give("Password? ") == "Password? ")
    #expect(give("is s3c") == "is ")
    #expect(give("r") == "")
    #expect(give("ew s") == "s3crew ")
    #expect(give("") == "")
    // The first value is certain; what follows may belong to the second.
    #expect(give("3cret") == "***")
    #expect(give("in") == "")
    #expect(give("! s3cret") == "! ***")
    #expect(give("ic s3") == "ic ")
    #expect(String(decoding: stream.end(), as: UTF8.self) == "s3")
    #expect(stream.end().isEmpty)
  }

  /// As the rule says it: each byte of an occurrence is covered, and each run of overlapping occurrences is one `***`.
  private func expected(_ bytes: [UInt8], _ values: [[UInt8]]) -> [UInt8] {
    var output: [UInt8] = []
    var covered = 0
    for place in bytes.indices {
      let lengths = values.filter { bytes[place...].starts(with: $0) }.map(\.count)
      if let longest = lengths.max() {
        if place >= covered { output += Array("***".utf8) }
        covered = max(covered, place + longest)
      }
      if place >= covered { output.append(bytes[place]) }
    }
    return output
  }

  @Test func randomValuesInRandomChunksAreReplacedAsTheRuleSays() throws {
    var random = SplitMix(seed: 7)
    func letters(_ lengths: ClosedRange<Int>) -> String {
      String((0..<Int.random(in: lengths, using: &random)).map { _ in "abc".randomElement(using: &random) ?? "a" })
    }
    for round in 0..<3000 {
      let values = (0...Int.random(in: 0..<5, using: &random)).map { _ in letters(1...6) }
      let mask = try #require(SecretMask(values))
      var rest = Array(letters(0...40).utf8)[...]
      let bytes = Array(rest)
      var chunks: [[UInt8]] = []
      while !rest.isEmpty {
        let count = Int.random(in: 0...min(8, rest.count), using: &random)
        chunks.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      let expected = expected(bytes, values.map { Array($0.utf8) })
      #expect(masked(chunks, mask) == expected, "round \(round): \(values)")
      #expect(Array(mask.masked(String(decoding: bytes, as: UTF8.self)).utf8) == expected)
    }
  }

  @Test func aValueIsMaskedWithoutTheBlanksAroundItToo() throws {
    let mask = try #require(SecretMask([" trail "]))
    #expect(mask.masked("a trail b, trail.") == "a***b, ***.")
  }

  @Test func ofACutTextTheBeginningOfAValueIsLeftOut() throws {
    let mask = try #require(SecretMask(["s3cret"]))
    #expect(mask.maskedCut("a s3cret b s3cr") == "a *** b ")
    #expect(mask.maskedCut("all of it") == "all of it")
  }

  @Test func otherBytesAreNotChanged() throws {
    let mask = try #require(SecretMask(["s3cret"] + (0..<500).map { "value-\($0)-of-many" }))
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    let chunks = stride(from: 0, to: bytes.count, by: 777).map { Array(bytes[$0..<min($0 + 777, bytes.count)]) }
    #expect(masked(chunks, mask) == bytes)
    #expect(masked([bytes, Array("value-77-of-many".utf8), [0xFF]], mask) == bytes + Array("***".utf8) + [0xFF])
  }
}
