import Testing

@testable import JobFiles

/// JSON as text.
struct SchemaValueTests {
  @Test func eachLevelStandsTwoBlanksDeeper() {
    let value = SchemaValue.object([
      ("b", .list([.number(1), .flag(true), .flag(false), .text("x")])), ("a", .object([])), ("d", .list([])),
      ("c", .list([.object([("e", .number(-2))]), .text("y")])), ("f", .list([.list([.number(3)])])),
    ])
    #expect(
      value.json() == """
        {
          "b": [1, true, false, "x"],
          "a": {},
          "d": [],
          "c": [
            {
              "e": -2
            },
            "y"
          ],
          "f": [
            [3]
          ]
        }
        """)
  }

  @Test func marksOfJSONAreEscaped() {
    #expect(SchemaValue.text("a\"b\\c\nd é/").json() == #""a\"b\\c\nd é/""#)
    #expect(SchemaValue.object([("\"", .flag(true))]).json() == "{\n  \"\\\"\": true\n}")
  }
}
