import Testing

@testable import JobFiles

/// Escaped pairs of JSON, which YAML writes as one escape.
struct JSONEscapesTests {
  private func joined(_ text: String) -> String? {
    JSONEscapes.joined(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    (#"{"a": "\ud83d\ude01"}"#, #"{"a": "\U0001f601"}"#), (#"{"a": "\uD83D\uDE01"}"#, #"{"a": "\U0001f601"}"#),
    // The first and the last character of a pair.
    (#"{\ud800\udc00}"#, #"{\U00010000}"#), (#"{\udbff\udfff}"#, #"{\U0010ffff}"#),
    // At the end of the text, and before a backslash there.
    (#"{\ud83d\ude00"#, #"{\U0001f600"#), (#"{\ud83d\ude00\"#, #"{\U0001f600\"#),
    // A half before a pair, and other escapes around it.
    (#"{\ud83d\ud83d\ude00}"#, #"{\ud83d\U0001f600}"#), (#"{\n\ud83d\ude00\u00e9}"#, #"{\n\U0001f600\u00e9}"#),
    // An escaped backslash begins no half of a pair.
    (#"{\\ud83d\ude00\ud83d\ude00}"#, #"{\\ud83d\ude00\U0001f600}"#),
    (" \t\r\n{\\ud83d\\ude00}", " \t\r\n{\\U0001f600}"),
  ])
  func aPairBecomesOneEscape(json: String, yaml: String) {
    #expect(joined(json) == yaml)
  }

  @Test(arguments: [
    "", "{}", #"{"\u00e9"}"#, #"["\ud83d\ude00"]"#, #"x{"\ud83d\ude00"}"#, #"{"\ud83d"}"#, #"{\ude00\ud83d}"#,
    #"{\ud83d\ude0"#, #"{\ud83d\n\ude00}"#, #"{\ud83g\ude00}"#, #"{\ud83d\xde00}"#, #"{\ud83dude00}"#,
    #"{\udc00\udc00}"#,
    #"{\ud83d\ue000}"#, #"{\\ud83d\\ude00}"#,
  ])
  func withoutAPairOfAJSONObjectNothingIsTranslated(text: String) {
    #expect(joined(text) == nil)
  }
}
