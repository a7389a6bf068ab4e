import Support
import Testing

@testable import JobFiles

@Suite struct DepfileTests {
  private func inputs(_ text: String) -> [String] { Depfile.inputs(of: Array(text.utf8)) }

  @Test func thePathsBehindTheColonsAreRead() {
    #expect(inputs("a.o: a.c a.h") == ["a.c", "a.h"])
    #expect(inputs("a.o a.d: a.c \\\n a.h\\\r\n\tb.h\n") == ["a.c", "a.h", "b.h"])
    #expect(inputs("a.o: a.c\n\na.h:\nb.h:\n") == ["a.c"])
    #expect(inputs("") == [] && inputs("a.o") == [] && inputs("a.o: \\") == [])
  }

  @Test func escapesAreThoseOfMake() {
    #expect(inputs("a: b\\ c d\\#e $$f C\\:g h\\i") == ["b c", "d#e", "$f", "C:g", "h\\i"])
  }

  @Test func aWordThatIsNoTextIsLeftOut() {
    #expect(Depfile.inputs(of: Array("a: b ".utf8) + [0xFF] + Array(" c".utf8)) == ["b", "c"])
  }

  @Test func anyBytesGivePathsThatAreNotEmpty() {
    var random = SplitMix(seed: 1)
    let marks = Array("\\\n\r :$#a".utf8)
    for _ in 0..<2000 {
      let bytes = (0..<Int(random.next() % 12)).map { _ in marks[Int(random.next() % UInt64(marks.count))] }
      #expect(!Depfile.inputs(of: bytes).contains(""), "\(bytes)")
    }
  }
}
