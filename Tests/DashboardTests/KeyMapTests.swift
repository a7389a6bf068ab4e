import Foundation
import JobModel
import Screen
import Testing

@testable import Dashboard

/// Keys that a person has changed, and the hints that name them.
struct KeyMapTests {
  private func bench(_ changes: [String: [Key]], size: Size = Size(width: 80, height: 24)) -> Bench {
    var options = DashboardOptions(timeZone: .gmt)
    options.keys = KeyMap(changes: changes)
    return Bench(RichRun.builder(), size: size, options: options)
  }

  @Test func actionsHaveNamesOfSmallLettersAndHyphens() {
    for action in Command.all {
      #expect(action.name.allSatisfy { $0.isLowercase || $0 == "-" }, "\(action)")
    }
  }

  @Test func anActionHasTheKeysThatItIsGivenAndNoOthers() throws {
    var bench = bench(["cancel": [.character("D"), .function(2)]])
    bench.select("fetch")
    for key in [Key.character("x"), .function(9)] { bench.press(key) }
    #expect(bench.commands.isEmpty)
    bench.press(.function(2))
    let fetch = try #require(bench.builder.run.id(named: "fetch"))
    #expect(bench.commands == [.cancel([fetch], by: .person)])
  }

  @Test func aKeyGivenToAnotherActionPerformsThatAction() {
    let keys = KeyMap(changes: ["kill": [.character("x")]])
    #expect(keys.command(for: .character("x")) == .kill)
    #expect(keys.keys(of: .cancel) == [.function(9)])
    #expect(keys.command(for: .character("X")) == nil)
  }

  @Test func wideKeysKeepTheColumnsOfTheHelpPage() {
    var bench = bench(["follow": "漢字仮名文".map { .character($0) }], size: Size(width: 120, height: 60))
    bench.press(.character("?"))
    let text = bench.frame(GoldenTests.utf8).text
    #expect(text.contains("漢          follow the newest line"))
  }

  @Test func hintsNameTheChangedKeys() {
    var bench = bench(
      [
        "retry": [.character("a")], "pause": [.control("p")], "quit": [.character("Q")], "freeze": [.function(2)],
        "retry-dependents": [.character("A")], "zoom": [.character("v")], "help": [.control("g")],
      ], size: Size(width: 120, height: 40))
    bench.select("lint")
    #expect(bench.frame().text.contains("a retry"))
    bench.select("warm-cache")
    #expect(bench.frame().text.contains("^P resume"))
    bench.select("lint")
    let bottom = bench.frame().text(row: 39)
    #expect(bottom.contains("v zoom") && bottom.contains("Q quit") && bottom.contains("^G help"))
    bench.select("publish")
    bench.press(.character("a"))
    #expect(bench.model.notice?.text.hasSuffix(": a on lint retries both") == true)
    bench.press(.function(2))
    #expect(bench.frame().text.contains("F2 shows the present"))
    bench.press(.function(2), .character("Q"))
    #expect(bench.frame().text(row: 39).contains("Q cancels and quits"))
    bench.press(.character("Q"))
    bench.play { $0.state(.stopRequested(.terminate, by: .person)) }
    #expect(bench.frame().text.contains("Q kills now"))
  }

  @Test func anActionWithoutAKeyHasNoHint() {
    var bench = bench(["retry": [], "pause": [], "timeline": [], "zoom": []], size: Size(width: 120, height: 40))
    bench.select("lint")
    let text = bench.frame().text
    #expect(!text.contains("r retry") && !text.contains(" resume") && !text.contains(" zoom"))
    bench.press(.character("i"))
    #expect(bench.model.notice?.text == "that is for the timeline")
  }

  @Test func thePaletteAndTheHelpShowTheKeysInForce() {
    var bench = bench(["drain": [.function(12)], "help": [.function(1)]], size: Size(width: 120, height: 60))
    bench.press(.character(":"))
    bench.type("drain")
    #expect(bench.frame().text.contains("F12"))
    bench.press(.escape, .function(1))
    #expect(bench.frame().text.contains("F12         drain: start nothing new"))
  }

  @Test func theHelpHasNoWordForAnActionWithoutAKey() {
    var bench = bench(["tag": [], "kill": []])
    bench.press(.character("?"))
    let text = bench.frame().text
    #expect(text.contains(" c A U       dependents; all; none") && text.contains(" x F9        cancel\n"))
    #expect(text.contains(" p F7 a      pause or resume; approve"))
  }

  @Test func longNamesOfKeysKeepTheHelpInColumns() {
    var bench = bench(["drain": [.backspace, .pageUp, .character(" ")]], size: Size(width: 160, height: 60))
    bench.press(.character("?"))
    let lines = bench.frame().text.split(separator: "\n")
    let columns = ["drain: start nothing new", "one slot more"].compactMap { help in
      lines.compactMap { $0.range(of: help)?.lowerBound.utf16Offset(in: $0) }.first
    }
    #expect(Set(columns).count == 1 && columns.count == 2)
  }

  @Test func theQuitQuestionAcceptsItsOwnKeyUnlessItMeansNo() {
    var bench = bench(["quit": [.character("n"), .character("N")]])
    bench.press(.character("n"))
    #expect(bench.frame().text(row: 23).contains("y cancels and quits"))
    bench.press(.character("n"))
    #expect(bench.model.prompt == nil && bench.commands.isEmpty)
  }

  @Test func theListNamesEveryActionAndWhatWasChanged() {
    let entries = KeyMap(changes: ["kill": [.character("x")], "log": []]).entries
    #expect(Set(entries.map(\.action)) == Set(Command.all.map(\.name)))
    #expect(Set(entries.filter(\.isChanged).map(\.action)) == ["kill", "cancel", "log"])
    #expect(entries.filter(\.isNeeded).map(\.action).sorted() == ["help", "quit"])
  }

  @Test func theListIsInTheOrderOfTheHelpPage() {
    var sections: [String] = []
    for entry in KeyMap.standard.entries where sections.last != entry.section { sections.append(entry.section) }
    #expect(sections == ["Moving", "Showing", "The tagged jobs, or the cursor's", "The run", "The log"])
    #expect(KeyMap.standard.entries.allSatisfy { !$0.isChanged && !$0.help.isEmpty })
  }

  @Test func anActionIsNamedByItsFirstKey() {
    let keys = KeyMap(changes: ["cancel": [.control("x"), .function(9)], "kill": []])
    #expect(keys.label(.cancel) == "^X" && keys.hint(.cancel, "cancel") == "^X cancel")
    #expect(keys.label(.kill) == nil && keys.hint(.kill, "kill").isEmpty && keys.keys(of: .kill).isEmpty)
    #expect(keys.command(for: .function(9)) == .cancel && keys.command(for: .character("x")) == nil)
  }
}
