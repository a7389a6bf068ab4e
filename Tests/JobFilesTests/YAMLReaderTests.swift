import Testing

@testable import JobFiles

/// The values of a document, with aliases and merge keys resolved.
struct YAMLReaderTests {
  /// The document, and the faults as `LINE:COLUMN: message`.
  private func read(_ text: String) throws -> (node: YAMLNode?, faults: [String]) {
    let source = SourceText(checked: Array(text.utf8))
    let faults = FaultLog(file: "f", source: source)
    let node = try YAMLReader.read(source, faults: faults)
    return (node, faults.list.map { "\($0.line):\($0.column): \($0.message)" })
  }

  /// The entries of a map of words in its order.
  private func entries(_ text: String) throws -> [String] {
    guard case .map(let entries)? = try read(text).node?.content else { return [] }
    return entries.map { "\($0.key) \($0.value.words)" }
  }

  @Test func theFirstOfEqualMergedKeysCounts() throws {
    #expect(try entries("<<: [{ a: 1 }, { a: 2, b: 3 }, { b: 4 }]\nc: 5\n") == ["c '5'", "a '1'", "b '3'"])
  }

  @Test func aKeyOfTheMapItselfComesBeforeAMergedOne() throws {
    #expect(try entries("a: 0\n<<: { a: 1, b: 2 }\n") == ["a '0'", "b '2'"])
    #expect(try entries("<<: { a: 1, b: 2 }\na: 0\n") == ["a '0'", "b '2'"])
  }

  @Test(arguments: [3, 16, 17, 100])
  func aKeyIsOnceInAMapOfAnySize(size: Int) throws {
    let keys = (1...size).map { "k\($0): \($0)\n" }.joined()
    #expect(try read(keys).faults.isEmpty)
    let again = "given at line 2, column 1 already: delete one of them"
    #expect(
      try read(keys + "k2: x\nz: 1\nk2: y\n").faults == [
        "\(size + 1):1: duplicate key 'k2', \(again)", "\(size + 3):1: duplicate key 'k2', \(again)",
      ])
    // The keys of the maps around it don't count.
    #expect(try read(keys + "z: { k2: 1, y: { k2: 2, z: 3 }, z: 4 }\n").faults.isEmpty)
  }

  @Test(arguments: [3, 16, 17, 100])
  func mapsOfAnySizeAreMerged(size: Int) throws {
    let numbers = 1...size
    let merged = "{ " + numbers.map { "k\($0): m" }.joined(separator: ", ") + ", z: m }"
    let all = numbers.map { "k\($0) 'o'" } + ["z 'm'"]
    #expect(try entries(numbers.map { "k\($0): o\n" }.joined() + "<<: \(merged)\n") == all)
    let others = numbers.dropFirst().map { "k\($0) 'm'" } + ["z 'm'"]
    #expect(try entries("<<: [{ k1: o }, \(merged), { k2: x }]\n") == ["k1 'o'"] + others)
    #expect(
      try read("<<: \(merged)\n<<: { a: 1 }\n").faults == [
        "2:1: duplicate key '<<', given at line 1, column 1 already: delete one of them"
      ])
  }

  @Test func listsStandInEachOther() throws {
    guard case .list(let items)? = try read("[a, [b, [], { c: [d, e], f: [] }], [[g]], h]").node?.content else {
      Issue.record("no list")
      return
    }
    #expect(items.map(\.texts) == [["a"], ["b", "d", "e"], ["g"], ["h"]])
  }

  @Test func onlyMapsAreMerged() throws {
    let message = "'<<' takes a map or a list of maps; this is"
    #expect(try read("<<: [{ a: 1 }, 3, [b]]\n").faults == ["1:16: \(message) '3'", "1:19: \(message) a list"])
    #expect(try entries("<<: [3, { a: 1 }]\nb: 2\n") == ["b '2'", "a '1'"])
    #expect(try read("<<: x\n").faults == ["1:5: \(message) 'x'"])
  }

  @Test(arguments: [
    ("3", true), ("'3'", false), ("\"3\"", false), ("!!str 3", false), ("!!int 3", true), ("!!int '3'", false),
    ("!", false),
  ])
  func onlyPlainTextMayBeANumber(written: String, isPlain: Bool) throws {
    let (node, faults) = try read(written)
    #expect(faults.isEmpty)
    guard case .scalar(_, let found)? = node?.content else {
      Issue.record("\(written) is no text")
      return
    }
    #expect(found == isPlain)
  }

  @Test(arguments: ["!!float 1.5", "!!bool true", "!!null ~", "!!seq [a]", "!!map { a: b }"])
  func aTagOfTheFormatMeansWhatIsWritten(text: String) throws {
    #expect(try read(text).faults.isEmpty)
  }

  @Test(arguments: [
    ("!!map [a]", "tag:yaml.org,2002:map"), ("!!seq { a: b }", "tag:yaml.org,2002:seq"), ("!x y", "!x"),
  ])
  func anotherTagMeansNothing(text: String, tag: String) throws {
    #expect(
      try read(text).faults == [
        "1:1: tag '\(tag)' means nothing here: delete it, or put text that begins with ! in quotes"
      ])
  }

  @Test func aValueCountsItselfAndWhatIsInIt() throws {
    #expect(try read("a").node?.weight == 1)
    #expect(try read("[a, b]").node?.weight == 3)
    #expect(try read("{ a: b, c: [d] }").node?.weight == 6)
    #expect(try read("{ a: &x [b, c], d: *x }").node?.weight == 9)
  }

  @Test func aliasesMayStandForSoManyValuesAndNoMore() throws {
    // A list of 1,001 values; an alias counts in the text too.
    func text(_ count: Int) -> String {
      let list = Array(repeating: "1", count: 1000).joined(separator: ",")
      return "a: &a [\(list)]\nb: [\(Array(repeating: "*a", count: count).joined(separator: ","))]\n"
    }
    #expect(try read(text(1039)).node?.weight == 1 + 1 + 1001 + 1 + 1 + 1039 * 1001)
    let problem = #expect(throws: YAMLError.self) { try read(text(1040)) }
    #expect(problem?.message == "the aliases up to here stand for more than 1040039 values: write fewer")
    #expect(problem?.place == Place(line: 2, column: 5 + 3 * 1039))
  }

  @Test func anAliasAddsItsLevels() throws {
    func text(_ levels: Int) -> String {
      "a: &a " + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + "\nb: [[*a]]\n"
    }
    // The document, two lists, and the alias.
    #expect(try read(text(61)).node != nil)
    let problem = #expect(throws: YAMLError.self) { try read(text(62)) }
    #expect(problem?.message == "more than 64 levels deep: a job file needs fewer than 10")
    #expect(problem?.place == Place(line: 2, column: 6))
  }

  @Test func anAliasOfATextIsAtItsOwnPlace() throws {
    guard case .list(let items)? = try read("[&a x, *a, &b [y], *b]").node?.content else {
      Issue.record("no list")
      return
    }
    #expect(items.map(\.place.column) == [2, 8, 12, 12])
    #expect(items.map(\.end.column) == [6, 10, 18, 18])
  }

  @Test func anAnchorMayBeUsedAgain() throws {
    #expect(try entries("a: &x 1\nb: *x\nc: &x 2\nd: *x\n") == ["a '1'", "b '1'", "c '2'", "d '2'"])
    #expect(try read("a: &x [b]\nc: [*x, [*x]]\n").faults.isEmpty)
  }

  @Test func withoutADocumentThereIsNoValue() throws {
    #expect(try read("").node == nil)
    #expect(try read("# x\n").node == nil)
    #expect(try read("---\n").node?.isNull == true)
  }
}
