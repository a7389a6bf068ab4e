import Testing

@testable import Processes

struct TextSplitterTests {
  @Test func theLineWithoutAnEndIsKeptAndCounted() {
    var splitter = TextSplitter()
    #expect(splitter.unfinished == 0)
    #expect(splitter.feed(Array("aé".utf8)) == [])
    #expect(splitter.unfinished == 3)
    #expect(splitter.feed(Array("b\nc\nde".utf8)) == ["aéb", "c"])
    #expect(splitter.unfinished == 2)
    #expect(splitter.feed(Array("\n".utf8)) == ["de"])
    #expect(splitter.unfinished == 0)
    #expect(splitter.finish() == nil)
  }

  @Test func theLastLineIsGivenOnce() {
    var splitter = TextSplitter()
    _ = splitter.feed(Array("a\nb\r".utf8))
    #expect(splitter.finish() == "b")
    #expect(splitter.unfinished == 0)
    #expect(splitter.finish() == nil)
    #expect(splitter.feed(Array("c\n".utf8)) == ["c"])
  }
}
