import Testing

@testable import Processes

struct ProcessEnvironmentTests {
  @Test(
    arguments: [
      (.inherited, true), ([:], true), (.inherited(adding: [:]), true), (["A": "1"], false), (.only([:]), false),
      (.inherited(adding: [:], removing: ["A"]), false),
    ] as [(ProcessEnvironment, Bool)])
  func onlyTheInheritedOneIsUnchanged(environment: ProcessEnvironment, isUnchanged: Bool) {
    #expect(environment.isUnchanged == isUnchanged)
  }

  @Test func aVariableIsPassedOnUnlessItIsReplacedOrRemoved() {
    let environment = ProcessEnvironment.inherited(adding: ["A": "1"], removing: ["B"])
    #expect(environment.passes(on: "C"))
    #expect(!environment.passes(on: "A") && !environment.passes(on: "B"))
    #expect(!ProcessEnvironment.only(["A": "1"]).passes(on: "C"))
  }

  @Test func whatIsAddedIsNotRemoved() {
    #expect(ProcessEnvironment.inherited(adding: ["A": "1"], removing: ["A", "B"]).removed == ["B"])
  }

  @Test func anotherDirectoryIsThatOfTheVariable() {
    let environment = ProcessEnvironment.inherited(adding: ["A": "1"], removing: ["B"])
    #expect(environment.forDirectory("/d") == .inherited(adding: ["A": "1", "PWD": "/d"], removing: ["B"]))
    for kept in [.only([:]), ["PWD": "/mine"], .inherited(adding: [:], removing: ["PWD"])] as [ProcessEnvironment] {
      #expect(kept.forDirectory("/d") == kept)
    }
  }

  @Test func aTerminalHasATypeAndASizeOfItsOwn() {
    let environment = ProcessEnvironment.inherited(adding: ["A": "1"], removing: ["B"]).forTerminal
    #expect(environment.variables == ["A": "1", "TERM": "xterm-256color"])
    #expect(environment.removed == ["B", "COLUMNS", "LINES"])
    #expect(environment.isInherited)
    #expect(ProcessEnvironment.inherited(adding: ["TERM": "vt100"]).forTerminal.variables == ["TERM": "vt100"])
    #expect(ProcessEnvironment.inherited(adding: [:], removing: ["TERM"]).forTerminal.variables == [:])
    #expect(!ProcessEnvironment.only([:]).forTerminal.isInherited)
  }
}
