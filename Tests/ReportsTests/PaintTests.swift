import JobModel
import Screen
import Testing

@testable import Reports

@Suite struct PaintTests {
  private let paint = Paint(isColoured: true)

  @Test func eachRoleHasItsColour() {
    let codes: [(Paint.Role, String)] = [
      (.good, "94"), (.bad, "1;31"), (.warning, "35"), (.active, "36"), (.quiet, "2"), (.strong, "1"),
    ]
    for (role, code) in codes { #expect(paint(role, "x") == "\u{1B}[\(code)mx\u{1B}[0m") }
  }

  @Test func neighboursHaveOtherColoursAndTheEleventhThatOfTheFirst() {
    #expect(Set((0..<10).map { paint(.name($0), "x") }).count == 10)
    #expect(paint(.name(10), "x") == paint(.name(0), "x") && paint(.name(0), "x") == "\u{1B}[36mx\u{1B}[0m")
    #expect(paint(.name(19), "x") == paint(.name(9), "x"))
  }

  @Test func withoutColourOrTextNothingIsAdded() {
    #expect(paint(.bad, "") == "")
    #expect(Paint(isColoured: false)(.bad, "x") == "x")
  }

  @Test func aStateHasItsRoleAndItsLetter() {
    let failure = JobFailure(.exit(1), "exit 1")
    let states: [(JobState, Paint.Role, TerminalText)] = [
      (.waiting, .quiet, "."), (.ready(for: .slot), .quiet, "o"), (.skipped(because: .condition), .quiet, "x"),
      (.executing, .active, ">"), (.serving, .active, "@"), (.paused(started: true), .warning, "|"),
      (.backingOff(until: .zero, number: 1, limit: 1, after: failure), .warning, "z"),
      (.cancelled(by: .person), .warning, "c"), (.failed(failure, allowed: true), .warning, "~"),
      (.succeeded(upToDate: false), .good, "+"), (.succeeded(upToDate: true), .good, "="),
      (.failed(failure, allowed: false), .bad, "!"),
    ]
    for (state, role, letter) in states {
      #expect(paint(state.role, "x") == paint(role, "x") && state.letter == letter, "\(state)")
    }
  }

  @Test func anObjectKeepsTheOrderOfItsFieldsAndLeavesOutNil() {
    func text(_ object: JSONObject) -> String {
      var bytes: [UInt8] = []
      object.append(to: &bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    #expect(text([:]) == "{}" && text(["a": nil]) == "{}")
    #expect(text(["b": 1, "x": nil, "a": "t"]) == #"{"b":1,"a":"t"}"#)
    #expect(text(["x": nil, "b": 1] + ["a": ["c": true] as JSONObject]) == #"{"b":1,"a":{"c":true}}"#)
  }
}
