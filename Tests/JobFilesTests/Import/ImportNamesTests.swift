import Support
import Testing

@testable import JobFiles

@Suite struct ImportNamesTests {
  @Test(arguments: [
    ("a/b.c", "a/b.c"), ("", "job"), ("-x", "_x"), (" x ", "_x_"), ("a[1]*?", "a_1___"), ("${x}", "$_x_"),
    ("<<", "job"),
    ("a\u{202E}b\u{1B}", "a_b_"), ("é", "é"),
  ])
  func aNameIsLikeTheOther(_ text: String, _ name: String) {
    var names = ImportNames()
    #expect(names.name(for: text) == name)
  }

  @Test func equalNamesGetNumbers() {
    var names = ImportNames()
    #expect(["a", "a", "a-2", "a", "?", "*"].map { names.name(for: $0) } == ["a", "a-2", "a-2-2", "a-3", "_", "_-2"])
  }

  @Test func theEndOfALongNameStays() {
    var names = ImportNames()
    let long = String(repeating: "x", count: 300) + String(repeating: "-", count: 180) + "end"
    let found = (0..<3).map { _ in names.name(for: long) }
    #expect(found[0].hasSuffix("-end") && found[1].hasSuffix("-end-2") && found[2].hasSuffix("-end-3"))
    for name in found { #expect(JobName.fault(in: name) == nil, "\(name)") }
  }

  @Test func anyTextsGetNamesOfTheirOwn() {
    var random = SplitMix(seed: 7)
    let parts = ["-", " ", "a", "[", "${", "é", "e\u{301}", "\u{200D}", "\u{FEFF}", "\n", "<<", "*"]
    var names = ImportNames()
    var found: Set<String> = []
    for _ in 0..<3000 {
      let count = random.next() % 8 == 0 ? 250 : Int(random.next() % 4)
      let text = (0..<count).map { _ in parts[Int(random.next() % UInt64(parts.count))] }.joined()
      let name = names.name(for: text)
      #expect(JobName.fault(in: name) == nil, "\(text.debugDescription)")
      #expect(found.insert(name).inserted, "\(name)")
    }
  }
}
