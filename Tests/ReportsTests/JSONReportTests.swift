import Foundation
import JobModel
import Reports
import Testing

@Suite struct JSONReportTests {
  @Test func everyFactHasItsLine() {
    expectGolden(report(.everything) { JSONReport(write: $0) }.text, "everything.ndjson")
  }

  @Test func everyLineIsAnObjectWithTheNextNumber() throws {
    let lines = report(.everything) { JSONReport(write: $0) }.lines
    #expect(lines.last == "")
    for (index, line) in lines.dropLast().enumerated() {
      let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      #expect(object["seq"] as? Int == index)
      #expect(object["v"] as? Int == 1)
    }
  }

  @Test func howEventsAreBatchedChangesNothing() {
    let whole = Written()
    var set = ReportSet([JSONReport(write: whole.writer)])
    set.receive(Facts.everything.events)
    #expect(whole.text == report(.everything) { JSONReport(write: $0) }.text)
  }

  @Test func aNeedMayNameAJobThatComesLater() {
    let line = report(.everything) { JSONReport(write: $0) }.lines[1]
    #expect(line.contains(#""needs":[{"job":"publish","when":"failed","id":5}]"#))
  }

  @Test func aChildNamesItsParent() {
    var facts = Facts()
    let work = JobWork.operation(OperationWork(className: "Op", visibility: .whole))
    facts.begin([Job(name: "group", work: work), Job(name: "child", work: work, parent: JobID(0))])
    let lines = report(facts) { JSONReport(write: $0) }.text.split(separator: "\n")
    #expect(lines[1].hasSuffix(#""seen":"whole"}"#))
    #expect(lines[2].hasSuffix(#""seen":"whole","parent":"group"}"#))
  }

  @Test func aPasswordInAURLStaysOut() {
    let text = report(.everything) { JSONReport(write: $0) }.text
    #expect(!text.contains("secret"))
    #expect(text.contains("http://***@127.0.0.1/sdk.tar"))
  }

  @Test(arguments: [
    ("plain", "plain"), ("\"\\/", #"\"\\/"#), ("\n\r\t\u{08}\u{0}", #"\n\r\t\u0008\u0000"#),
    ("\u{1B}[31m", #"\u001b[31m"#), ("\u{7F}\u{80}\u{9B}\u{A0}é", "\\u007f\\u0080\\u009b\u{A0}é"), ("😀ß", "😀ß"),
    ("a\u{202E}b\u{61C}c\u{2066}d\u{200F}", #"a\u202eb\u061cc\u2066d\u200f"#),
    ("a\u{2028}b\u{2029}", #"a\u2028b\u2029"#),
    ("a\u{200B}b\u{2064}c\u{FEFF}", #"a\u200bb\u2064c\ufeff"#), ("\u{E0041}", #"\udb40\udc41"#),
    ("漢\u{7FF}", "漢\u{7FF}"),
  ])
  func textIsEscapedAndComesBackWhole(_ text: String, _ escaped: String) throws {
    var facts = Facts()
    facts.begin([Job(name: "a", work: .simulate(SimulatedWork()))])
    facts.log(0, text)
    let line = report(facts) { JSONReport(write: $0) }.lines[2]
    #expect(line.contains("\"text\":\"\(escaped)\""))
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(object["text"] as? String == text)
  }

  @Test(arguments: [
    (Duration.zero, "0"), (.milliseconds(2113), "2.113"), (.milliseconds(70200), "70.2"),
    (.microseconds(1), "0.000001"),
    (.nanoseconds(1_999_999), "0.001999999"), (.seconds(100_000), "100000"), (.milliseconds(1050), "1.05"),
  ])
  func timesAreSecondsWithAllTheirDecimals(_ time: Duration, _ text: String) {
    var facts = Facts()
    facts.begin([])
    facts.state(.slotsChanged(1), after: time)
    #expect(report(facts) { JSONReport(write: $0) }.lines[1].hasPrefix("{\"v\":1,\"seq\":1,\"t\":\(text),\"type\""))
  }
}
