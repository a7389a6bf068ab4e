import Foundation
import Testing

@testable import Processes

struct CStringsTests {
  private func texts(_ strings: inout CStrings, after before: [UnsafeMutablePointer<CChar>] = []) -> [String] {
    strings.withPointers(after: before) { pointers in
      var texts: [String] = []
      while let text = pointers?[texts.count] { texts.append(String(cString: text)) }
      return texts
    }
  }

  @Test func whatHoldsAZeroByteIsNotAppended() {
    var strings = CStrings()
    let isAppended = [
      strings.append("a"), strings.append("b", "c\0d"), strings.append("e", "=", "é"), strings.append(""),
    ]
    #expect(isAppended == [true, false, true, true])
    let texts = texts(&strings)
    #expect(texts == ["a", "e=é", ""])
  }

  @Test func otherPointersComeFirst() throws {
    let text = try #require(strdup("first"))
    defer { free(text) }
    var strings = CStrings()
    let alone = texts(&strings, after: [text])
    #expect(alone == ["first"])
    _ = strings.append("second")
    let both = texts(&strings, after: [text])
    #expect(both == ["first", "second"])
  }
}
