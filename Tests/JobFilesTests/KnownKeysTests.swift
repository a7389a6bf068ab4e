import Testing

@testable import JobFiles

/// Maps with known keys.
struct KnownKeysTests {
  private static let box = KnownKeys(
    owner: "a box", table: [KnownKey("size", .text, "how large it is"), KnownKey("lid", .flag, "whether it has one")],
    example: "{ size: 3 }", later: ["colour": "paint it"])

  /// What is read of a text, and the faults.
  private func read(_ keys: KnownKeys, _ text: String) throws -> (entries: KnownKeys.Entries?, faults: [String]) {
    let source = SourceText(checked: Array(text.utf8))
    let log = FaultLog(file: "f", source: source)
    let node = try YAMLReader.read(source, faults: log)
    let entries = keys.read(try #require(node), faults: log)
    return (entries, log.list.map { "\($0.line):\($0.column): \($0.message)" })
  }

  private func value(_ key: String, of entries: KnownKeys.Entries?) -> String? { entries?[key]?.value.words }

  @Test func aKeyOfALaterVersionSaysWhatToDo() throws {
    let (entries, faults) = try read(Self.box, "{ colour: red, size: 3 }")
    #expect(faults == ["1:3: 'colour' is not supported by this version of opdash yet: paint it"])
    #expect(entries?.hasUnknown == true)
    #expect(value("size", of: entries) == "'3'")
    #expect(value("colour", of: entries) == nil)
    #expect(try read(Self.box, "{ color: red }").faults == ["1:3: unknown key 'color': did you mean 'colour'?"])
  }

  @Test func anUnknownKeyIsRememberedUnlessItIsIgnored() throws {
    #expect(try read(Self.box, "{ x-a: 1, lid: true }").entries?.hasUnknown == false)
    #expect(try read(Self.box, "{ x-a: 1, lid: true }").faults.isEmpty)
    let unknown = try read(Self.box, "{ weight: 1 }")
    #expect(unknown.entries?.hasUnknown == true)
    #expect(
      unknown.faults == ["1:3: unknown key 'weight': a box can have size or lid, or x-… for what opdash ignores"])
  }

  @Test func ofTwoEqualKeysTheFirstCounts() throws {
    let (entries, faults) = try read(Self.box, "{ size: 3, size: 4 }")
    #expect(value("size", of: entries) == "'3'")
    #expect(faults == ["1:12: duplicate key 'size', given at line 1, column 3 already: delete one of them"])
  }

  @Test(arguments: ["{ script: a, run: b }", "{ run: b, script: a }"])
  func ourKeyCountsBeforeTheWordOfAnotherTool(text: String) throws {
    let (entries, faults) = try read(JobFileKeys.job, text)
    #expect(value("run", of: entries) == "'b'")
    #expect(entries?.hasUnknown == true)
    #expect(faults.count == 1)
  }

  @Test func theWordOfAnotherToolIsReadAsOurKey() throws {
    let (entries, faults) = try read(JobFileKeys.job, "{ script: a, cmd: b }")
    #expect(value("run", of: entries) == "'a'")
    // The second is not read.
    #expect(entries?.hasUnknown == true)
    #expect(faults.count == 2)
    #expect(try read(JobFileKeys.job, "{ script: a }").entries?.hasUnknown == false)
  }

  @Test(arguments: [
    ("size 3", "a ':' is missing after 'size': write 'size: 3'"),
    ("size:3", "a blank is missing after 'size:': write 'size: 3'"),
    // A key alone is text like any other.
    ("size", "a box is a map; this is 'size': write '{ size: 3 }' or the like"),
    ("sizes 3", "a box is a map; this is 'sizes 3': write '{ size: 3 }' or the like"),
    ("'size 3'", "a box is a map; this is the text 'size 3': write '{ size: 3 }' or the like"),
    ("[{ size: 3 }]", "a box is a map; this is a list: write '{ size: 3 }' or the like"),
    ("~", "a box is a map; this is empty: write '{ size: 3 }' or the like"),
  ])
  func whatIsNoMapIsRefused(text: String, fault: String) throws {
    let (entries, faults) = try read(Self.box, text)
    #expect(entries == nil)
    #expect(faults == ["1:1: " + fault])
  }

  @Test(arguments: [
    ("run", "a job is a map; this is 'run': write '{ run: run }'"),
    ("'a: b'", "a job is a map; this is the text 'a: b': write '{ run: make }' or the like"),
    ("'ls'", "a job is a map; this is the text 'ls': write '{ run: ls }'"),
    ("~", "a job is a map; this is empty: write '{ run: make }' or the like"),
    ("[{ run: ls }]", "a job is a map; this is a list: write its lines without '- '"),
    ("[ls]", "a job is a map; this is a list: write '{ run: make }' or the like"),
    ("script ls", "a ':' is missing after 'script': write 'script: ls'"),
  ])
  func whatIsNoJobIsRefused(text: String, fault: String) throws {
    #expect(try read(JobFileKeys.job, text).faults == ["1:1: " + fault])
  }

  @Test func aBlankThatOnlyLooksLikeOneIsToldByItsNumber() throws {
    #expect(
      try read(Self.box, "\"\\u3000size\": 3").faults == [
        "1:1: unknown key '\u{3000}size': it begins with the character \\u{3000}, which only looks like a blank: "
          + "write blanks"
      ])
    #expect(try read(Self.box, "\" size\": 3").faults == ["1:1: unknown key ' size': did you mean 'size'?"])
  }
}
