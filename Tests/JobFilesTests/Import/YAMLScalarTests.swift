import Support
import Testing

@testable import JobFiles

@Suite struct YAMLScalarTests {
  @Test(arguments: [
    ("make -j4 all", "make -j4 all"), ("a/b.c", "a/b.c"), ("", "''"), (" a", "' a'"), ("it's", "it's"), ("'x", "'''x'"),
    ("a: b", "'a: b'"), ("a:b", "a:b"), ("a #b", "'a #b'"), ("5000", "'5000'"), ("1e5", "'1e5'"), ("true", "'true'"),
    ("~", "'~'"), ("null", "'null'"), ("-x", "-x"), ("--", "'--'"), ("- x", "'- x'"), ("a\tb", "\"a\\tb\""),
    ("\u{202E}", "\"\\u202E\""),
    ("\u{1B}[0m", "\"\\x1B[0m\""), ("...", "'...'"), ("é", "'é'"), ("\u{10FFFF}", "\"\\U0010FFFF\""),
  ])
  func aTextIsPlainOnlyWhereNothingInItHasAMeaning(_ text: String, _ written: String) {
    #expect(YAMLScalar.of(text, inFlow: false) == written)
  }

  @Test func aScriptOfSeveralLinesIsABlock() {
    #expect(YAMLScalar.block("a\n  b\n")?.mark == "|")
    #expect(YAMLScalar.block("a\nb")?.mark == "|-")
    for text in ["a", "a\n", " a\nb", "a\n\n", "a\n  \nb", "a\r\nb", "\na", "a\tb\nc"] {
      #expect(YAMLScalar.block(text) == nil, "\(text.debugDescription)")
    }
  }

  /// Every text comes back as the same bytes, in each place that a job file has for one.
  @Test(arguments: 0..<4)
  func anyTextIsReadBackAsTheSameBytes(part: Int) throws {
    var random = SplitMix(seed: UInt64(part + 1))
    let parts = [
      "a", "1", " ", "\n", "\t", "'", "\"", "\\", "#", ": ", ":", "- ", "{", "}", "[", "]", ",", "$", "${", "$${",
      "${env.A}",
      "é", "e\u{301}", "{\u{301}", "'\u{301}", "\r", "\u{85}", "\u{2028}", "\u{FEFF}", "\u{202E}", "\u{3164}", "😀", "|",
      ">",
      "&", "*", "!", "%", "@", "`", "~", "?", "<<", "\u{7}", "\u{E000}", "true", "0x1F",
    ]
    for _ in 0..<500 {
      let text = (0..<Int(random.next() % 6)).map { _ in parts[Int(random.next() % UInt64(parts.count))] }.joined()
      let script = text + "x"
      var file = ImportedFile()
      file.jobs = [
        ImportedFile.Job(
          name: "a",
          keys: [
            ("run", .script(script)), ("description", .text(text)),
            ("env", .map([("A", .text(text)), ("B", .written(ImportedValue.escaped(text)))])),
          ]),
        ImportedFile.Job(name: "b", keys: [("run", .list([.text("p"), .text(text)]))]),
      ]
      let graph = try ImportCase.read(file.text(of: "procfile", named: "P"))
      let job = try graph.job("a")
      #expect(job.script?.utf8.elementsEqual(script.utf8) == true, "\(script.debugDescription)")
      #expect(job.description.map { $0.utf8.elementsEqual(text.utf8) } == true, "\(text.debugDescription)")
      for value in job.shell?.environment ?? [:] {
        #expect(value.value.utf8.elementsEqual(text.utf8), "\(text.debugDescription)")
      }
      guard case .argv(let words)? = try graph.job("b").shell?.command else {
        Issue.record("no words")
        return
      }
      #expect(words[1].utf8.elementsEqual(text.utf8), "\(text.debugDescription)")
    }
  }
}
