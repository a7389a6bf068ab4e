import JobModel
import Testing

@Suite struct JSONValueTests {
  private func json(_ value: some JSONValue) -> String {
    var bytes: [UInt8] = []
    value.append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: [0, 7, 9, 10, 99, 100, 101, -1, -10, Int.max, Int.min])
  func wholeNumbersAreDecimal(number: Int) {
    #expect(json(number) == "\(number)")
    #expect(json(Int64(number)) == "\(number)")
  }

  @Test func theLargestUnsignedNumberIsWhole() {
    #expect(json(UInt64.max) == "18446744073709551615")
    #expect(json(Int32.min) == "-2147483648")
  }

  @Test(arguments: [
    (0.5, "0.5"), (2, "2.0"), (1e-7, "1e-07"), (.infinity, "null"), (-.infinity, "null"), (.nan, "null"),
  ])
  func aNumberWithoutAFormIsNull(number: Double, text: String) {
    #expect(json(number) == text)
  }

  @Test func listsAndObjectsHaveCommasBetweenTheirParts() {
    #expect(json([Int]()) == "[]" && json([1]) == "[1]" && json([1, 2, 3]) == "[1,2,3]")
    #expect(json([String: Bool]()) == "{}")
    #expect(json(["b": true, "a": false, "\"": true]) == #"{"\"":true,"a":false,"b":true}"#)
    #expect(json([["a": [1, 2]], [:]]) == #"[{"a":[1,2]},{}]"#)
  }

  @Test(arguments: [
    (Duration.zero, "0"), (.seconds(10), "10"), (.milliseconds(100), "0.1"), (.microseconds(1), "0.000001"),
    (.nanoseconds(1), "0.000000001"), (Duration(secondsComponent: 3, attosecondsComponent: 1), "3.000000000000000001"),
    (.milliseconds(70_200), "70.2"), (.seconds(-1), "-1"), (.milliseconds(-1500), "-1.5"),
    (.milliseconds(-500), "-0.5"),
  ])
  func secondsHaveTheDecimalsThatAreNeeded(time: Duration, text: String) {
    #expect(json(time) == text)
  }

  @Test(arguments: [
    ("", ""), ("a b~", "a b~"), ("\"\\/", #"\"\\/"#), ("\n\r\t", #"\n\r\t"#),
    ("\u{0}\u{8}\u{1F} ", #"\u0000\u0008\u001f "#),
    ("~\u{7F}\u{80}", #"~\u007f\u0080"#), ("\u{9F}\u{A0}", "\\u009f\u{A0}"), ("\u{AD}\u{AE}", "\\u00ad\u{AE}"),
    ("é\u{7FF}\u{800}漢\u{FFFD}\u{10000}😀", "é\u{7FF}\u{800}漢\u{FFFD}\u{10000}😀"),
    ("a\u{200B}b\u{2028}\u{2029}\u{202E}\u{FEFF}c", #"a\u200bb\u2028\u2029\u202e\ufeffc"#),
    ("x\u{E0041}", #"x\udb40\udc41"#),
  ])
  func aStringEscapesWhatIsInvisibleOrDrivesATerminal(text: String, escaped: String) {
    #expect(json(text) == "\"\(escaped)\"")
  }
}
