import Testing

@testable import JobModel

/// The checks of the fields of an object.
@Suite struct JSONItemTests {
  private func fields(_ text: String) throws -> JSONFields {
    try Array(text.utf8).withUnsafeBufferPointer { bytes in
      Result { () throws(JSONFault) in try JSONScanner.fields(of: bytes) }
    }.get()
  }

  private func message(_ body: () throws -> Void) -> String? {
    do { try body() } catch { return (error as? JSONFault)?.message }
    return nil
  }

  @Test func aFieldThatIsNullCountsAsMissingAndIsThere() throws {
    let fields = try fields(#"{"a":null}"#)
    #expect(fields.has("a") && !fields.has("b"))
    #expect(try fields.text(ifAny: "a") == nil && fields.flag(ifAny: "a") == nil && fields.count(ifAny: "a") == nil)
    #expect(try fields.duration(ifAny: "a") == nil && fields.number(ifAny: "a") == nil)
    #expect(try fields.list(ifAny: "a") == nil && fields.object(ifAny: "a") == nil && fields.texts(ifAny: "a") == nil)
    #expect(try fields.counts(ifAny: "a").isEmpty && fields.textMap(ifAny: "a") == nil)
    for name in ["a", "b"] {
      #expect(message { _ = try fields.text(name) } == "'\(name)' is missing")
      #expect(message { _ = try fields.flag(name) } == "'\(name)' is missing")
      #expect(message { _ = try fields.count(name) } == "'\(name)' is missing")
      #expect(message { _ = try fields.duration(name) } == "'\(name)' is missing")
    }
  }

  @Test func aValueOfAnotherKindIsAFaultWithWhatIsExpected() throws {
    let fields = try fields(#"{"n":1,"t":"x","l":[1],"o":{"a":"b"}}"#)
    #expect(message { _ = try fields.text("n") } == "'n' must be a string")
    #expect(message { _ = try fields.flag("t") } == "'t' must be true or false")
    #expect(message { _ = try fields.number(ifAny: "t") } == "'t' must be a number")
    #expect(message { _ = try fields.object(ifAny: "l") } == "'l' must be an object")
    #expect(message { _ = try fields.list(ifAny: "o") } == "'o' must be a list")
    #expect(message { _ = try fields.texts(ifAny: "l") } == "'l' must be a list of strings")
    #expect(message { _ = try fields.counts(ifAny: "o") } == "'a' must be a whole number from 0 to 1000000000")
    #expect(
      message { _ = try fields.duration("t") }
        == "'t' must be a number of seconds, not negative and with at most 18 decimals")
  }

  @Test func aCountIsAtMostItsLimit() throws {
    let fields = try fields(#"{"a":1000000000,"b":1000000001,"c":0,"d":-1}"#)
    #expect(try fields.count("a") == 1_000_000_000 && fields.count("c") == 0)
    for name in ["b", "d"] {
      #expect(message { _ = try fields.count(name) } == "'\(name)' must be a whole number from 0 to 1000000000")
    }
  }

  @Test func aNumberIsFinite() throws {
    let fields = try fields(#"{"a":-1.5e3,"b":1e999}"#)
    #expect(try fields.number(ifAny: "a") == -1500)
    #expect(message { _ = try fields.number(ifAny: "b") } == "'b' must be a number")
  }

  @Test func aDurationIsAtMostATrillionSeconds() throws {
    let fields = try fields(#"{"a":1000000000000,"b":1000000000000.000000000000000001,"c":0.000000000000000001}"#)
    #expect(try fields.duration("a") == .seconds(1_000_000_000_000))
    #expect(try fields.duration("c") == Duration(secondsComponent: 0, attosecondsComponent: 1))
    #expect(message { _ = try fields.duration("b") } != nil)
  }

  @Test(arguments: [
    ("0", Duration.zero), ("007", .seconds(7)), ("2.113", .milliseconds(2113)), ("70.20", .milliseconds(70_200)),
    ("0.000001", .microseconds(1)), ("9999999999999999", .seconds(9_999_999_999_999_999)),
    ("1.999999999999999999", Duration(secondsComponent: 1, attosecondsComponent: 999_999_999_999_999_999)),
  ])
  func secondsHaveUpToEighteenDecimals(text: String, time: Duration) {
    #expect(Duration(eventText: text) == time)
  }

  @Test(arguments: ["10000000000000000", "0.0000000000000000000", "-1", "1e3", "+1", "1:2", "1/2"])
  func otherTextIsNoTime(text: String) {
    #expect(Duration(eventText: text) == nil)
  }

  @Test func theFirstValueOfANameCounts() throws {
    let fields = try fields(#"{"o":{"a":1,"b":2,"a":3},"t":{"a":"x","a":"y"}}"#)
    #expect(try fields.counts(ifAny: "o") == ["a": 1, "b": 2])
    #expect(try fields.textMap(ifAny: "t") == ["a": "x"])
  }

  /// With a search for each of them, as many values would take hours.
  @Test func anObjectMayHaveManyValues() throws {
    let count = 300_000
    let texts = try fields("{\"t\":{" + (0..<count).map { "\"value\($0)\":\"\"" }.joined(separator: ",") + "}}")
    #expect(try texts.textMap(ifAny: "t")?.count == count)
    let counts = try fields("{\"n\":{" + (0..<count).map { "\"value\($0)\":1" }.joined(separator: ",") + "}}")
    #expect(try counts.counts(ifAny: "n").count == count)
  }
}
