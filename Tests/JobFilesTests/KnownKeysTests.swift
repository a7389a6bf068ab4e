import Testing

@testable import JobFiles

/// Maps with known keys.
struct KnownKeysTests {
  private static let box = KnownKeys<Box>(
    "a box", path: "box.", example: "{ size: 3 }",
    [
      KnownKey("size", .whole(1...9), into: \.size, "how large it is"),
      KnownKey("lid", .flag, into: \.hasLid, "whether it has one"), KnownKey("label", .text, "what is written on it"),
    ])

  private struct Box: Equatable {
    var size = 5
    var hasLid: Bool?
  }

  /// What is read of a text, and the faults.
  private func read<Record>(
    _ keys: KnownKeys<Record>, _ text: String
  ) throws -> (entries: KnownEntries?, faults: [String]) {
    let source = SourceText(checked: Array(text.utf8))
    let log = FaultLog(file: "f", source: source)
    let node = try YAMLReader.read(source, faults: log)
    let entries = keys.entries(of: try #require(node), log)
    return (entries, log.list.map { "\($0.line):\($0.column): \($0.message)" })
  }

  private func value(_ key: String, of entries: KnownEntries?) -> String? { entries?[key]?.value.words }

  @Test(
    arguments: [
      ("{ size: 3, lid: true }", 3, true, []), ("{ label: a }", 5, false, []), ("{ size: 3 }", 3, false, []),
      ("{ size: 10, lid: 1 }", 5, nil, ["1:9: box.size takes", "1:18: box.lid takes"]),
    ] as [(String, Int, Bool?, [String])])
  func aFaultyValueLeavesTheDefaultOrIsNil(text: String, size: Int, hasLid: Bool?, faults: [String]) throws {
    let source = SourceText(checked: Array(text.utf8))
    let log = FaultLog(file: "f", source: source)
    let node = try #require(try YAMLReader.read(source, faults: log))
    var box = Box(hasLid: false)
    Self.box.read(node, into: &box, ValueReader(faults: log, variables: Variables(environment: [:], faults: log)))
    #expect(box == Box(size: size, hasLid: hasLid))
    let found = log.list.map { "\($0.line):\($0.column): \($0.message)" }
    #expect(found.count == faults.count && zip(found, faults).allSatisfy { $0.hasPrefix($1) })
  }

  @Test func anUnknownKeyIsRememberedUnlessItIsIgnored() throws {
    #expect(try read(Self.box, "{ x-a: 1, lid: true }").entries?.hasUnknown == false)
    #expect(try read(Self.box, "{ x-a: 1, lid: true }").faults.isEmpty)
    let unknown = try read(Self.box, "{ weight: 1 }")
    #expect(unknown.entries?.hasUnknown == true)
    #expect(
      unknown.faults == ["1:3: unknown key 'weight': a box can have size, lid or label, or x-… for what opdash ignores"]
    )
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
