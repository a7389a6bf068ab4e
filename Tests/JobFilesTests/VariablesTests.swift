import JobModel
import Testing

@testable import JobFiles

@Suite struct VariablesTests {
  private let head = "vars: { ver: \"4.2\", my-os: linux, full: \"${my-os}-${ver}\" }\nenv: { shown: x }"

  private func script(_ text: String, env: String = "") throws -> String {
    guard case .shell(let work) = try job("run: |-\n  " + text + env, head: head).work,
      case .script(let script) = work.command
    else { throw UnexpectedWork() }
    return script
  }

  @Test(arguments: [
    ("echo ${ver} ${my-os}", "echo 4.2 linux"), ("echo ${full}", "echo linux-4.2"),
    ("echo ${env.CI} ${env.NONE:-no} ${env.EMPTY:-none}${env.EMPTY}", "echo true no none"),
    // What is the shell's stays the shell's.
    ("echo $HOME ${HOME} $ver $(date) $$ $? \"${x:-y}\" ${#a[@]} ${a%.*}", nil),
    ("for f in *; do echo ${f%.txt} ${other:-${f}}; done", nil), ("echo ${HOME:-${ver}}", "echo ${HOME:-4.2}"),
    ("echo ${shown%x}", nil), ("echo ${open", nil), ("awk '{print $1}' ${", nil), ("echo ${}", nil),
    // `$${` stands for `${`.
    ("echo $${ver} $${ver%.*} $$${ver}", "echo ${ver} ${ver%.*} $${ver}"), ("echo $${", "echo ${"),
  ])
  func aScriptKeepsWhatIsTheShells(written: String, run: String?) throws {
    #expect(try script(written) == run ?? written)
  }

  @Test(arguments: [
    ("", false, false), ("a", true, true), ("A_1z", true, true), ("_", true, true), ("1a", false, false),
    ("a1", true, true), ("a-b", false, true), ("-a", false, false), ("a-", false, true), ("a.b", false, false),
    ("a b", false, false), ("é", false, false),
  ])
  func aNameHasLettersDigitsAndAFewMarks(text: String, isName: Bool, withHyphens: Bool) {
    #expect(Variables.isName(text) == isName)
    #expect(Variables.isName(text, andHyphens: true) == withHyphens)
  }

  @Test func theShellFormsOfAVarAreFaultsWhateverTheyAre() {
    func fault(_ line: Int, _ form: String, _ name: String) -> String {
      "\(line):12: '${\(form)}' asks the shell for '\(name)', which is a var of this file that it doesn't know: "
        + "write ${\(name)}, or give it to the job in env"
    }
    #expect(
      faults(
        "vars: { ver: 1, a_1: 2 }\njobs:\n  a:\n    run: |\n"
          + "      echo ${#ver}\n      echo ${!ver}\n      echo ${a_1%x}\n"
      ) == [fault(5, "#ver", "ver"), fault(6, "!ver", "ver"), fault(7, "a_1%x", "a_1")])
  }

  @Test func aVarIsNotNamedByItsMap() throws {
    #expect(
      faults("vars: { cc: gcc }\njobs: { a: { run: 'x ${vars.cc}' } }") == [
        "2:22: '${vars.cc}' is a name that no shell knows: write ${cc}"
      ])
    #expect(faults("jobs: { a: { shell: node, run: 'f(`${vars.cc}`)' } }") == [])
  }

  @Test func aShellFormOverAVarThatTheShellHasTooIsTheShells() throws {
    #expect(try script("echo ${ver%.*}", env: "\nenv: { ver: 1 }") == "echo ${ver%.*}")
    let work = try job("run: 'echo ${HOME%/}'", head: "vars: { HOME: x }").work
    #expect(work == .shell(ShellWork(.script("echo ${HOME%/}"), directory: "/jobs")))
  }

  @Test func aShellFormOverAVarOfTheFileIsAFault() {
    #expect(
      faults("vars: { ver: 1 }\njobs:\n  a:\n    run: |\n      echo ${ver}\n      echo é ${ver%.*}\n") == [
        "6:14: '${ver%.*}' asks the shell for 'ver', which is a var of this file that it doesn't know: "
          + "write ${ver}, or give it to the job in env"
      ])
  }

  @Test func inArgumentsThereIsNoShellSoEveryNameMustBeKnown() {
    #expect(
      faults("vars: { base: x }\njobs:\n  a: { run: [echo, \"${bsae}\", \"${HOME}\", \"-${who}\", \"${base\"] }\n") == [
        "3:21: unknown variable '${bsae}': did you mean 'base'?",
        "3:32: unknown variable '${HOME}': did you mean '${env.HOME}'?",
        "3:44: unknown variable '${who}': declare it under vars, or write '$${' for a plain '${'",
        "3:54: '${' has no closing '}': add it, or write '$${' for a plain '${'",
      ])
  }

  @Test func anUnsetEnvironmentVariableIsAFaultWhereItStands() {
    #expect(
      faults(
        "jobs:\n  a:\n    run: >-\n      echo ${env.NONE_SUCH:-x} ${env.CII}\n      ${env.NONE_SUCH} ${env.NONE_SUCH}\n      ${env.A B}\n"
      )
        == [
          "4:32: CII is not set in the environment: did you mean 'CI'?",
          "5:7: NONE_SUCH is not set in the environment: set it, or write ${env.NONE_SUCH:-default}",
          "5:24: NONE_SUCH is not set in the environment: set it, or write ${env.NONE_SUCH:-default}",
          "6:7: '${env.A B}' is not understood: write ${env.NAME} or ${env.NAME:-default}",
        ])
  }

  @Test func varsMayUseEachOtherInAnyOrderButNotInACycle() throws {
    #expect(
      faults(
        """
        vars:
          a: ${b}
          b: x${c}
          c: ${a}${d}
          d: fine
          e: ${e}
        jobs: { j: { run: "echo ${a} ${e}" } }
        """) == [
          "2:3: vars need each other: a -> b -> c -> a: give one a value",
          "6:3: vars need each other: e -> e: give one a value",
        ])
    let chain = (0..<20_000).map { "  v\($0): ${v\($0 + 1)}\n" }.joined() + "  v20000: end\n"
    #expect(
      try graph("vars:\n\(chain)jobs: { a: { run: 'echo ${v0}' } }").jobs[0].work
        == .shell(ShellWork(.script("echo end"), directory: "/jobs")))
  }

  @Test func aFaultOfAVarIsNotRepeatedWhereItIsUsed() {
    #expect(
      faults("vars: { a: [1], b: '${no}' }\njobs: { j: { run: 'echo ${a}', dir: '${b}' } }") == [
        "1:12: vars.a takes text or a number; this is a list",
        "1:21: unknown variable '${no}': declare it under vars, or write '$${' for a plain '${'",
      ])
  }

  @Test func anOverrideTakesThePlaceOfAValue() throws {
    let text = "vars: { a: '${b}', b: file }\njobs: { j: { run: 'echo ${a}' } }"
    #expect(
      try graph(text, vars: ["b": "given"]).jobs[0].work
        == .shell(ShellWork(.script("echo given"), directory: "/jobs")))
  }

  @Test func variablesStandInNumbersAndChoicesToo() throws {
    let graph = try graph(
      "vars: { n: 3, p: high }\nslots: ${n}\njobs: { j: { run: ls, priority: '${p}', timeout: '${n}s', retry: \"${n}\" } }"
    )
    #expect(graph.slots == 3)
    #expect(graph.jobs[0].priority == .high)
    #expect(graph.jobs[0].timeout == .seconds(3))
    #expect(graph.jobs[0].retry.max == 3)
  }

  @Test func aRegularExpressionHasNoVariables() throws {
    guard case .shell(let work) = try job(#"{ run: ls, progress: '(\d+)${2}' }"#).work else { throw UnexpectedWork() }
    #expect(work.progress == #"(\d+)${2}"#)
  }

  @Test func theTextsThatVariablesMakeHaveALimitOfTheirOwnAndAWholeOne() {
    let faults = FaultLog(file: "f", source: SourceText(checked: Array("x".utf8)))
    let variables = Variables(environment: ["A": String(repeating: "x", count: 1 << 20)], faults: faults)
    func length(_ text: String) -> Int? { variables.expand(text, in: .null, unknown: .isFault)?.utf8.count }
    for _ in 0..<256 where length("${env.A}") != 1 << 20 { Issue.record("the longest text is refused") }
    #expect(faults.isEmpty)
    #expect(length("${env.A}") == nil)
    #expect(
      faults.list.map(\.message) == ["up to here, variables made 256 MiB of text: shorten their values"])
    #expect(length("${env.A}x") == nil)
    #expect(
      faults.list.map(\.message) == [
        "up to here, variables made 256 MiB of text: shorten their values",
        "with its variables put in, this is longer than 1 MiB: shorten it",
      ])
  }

  @Test func textThatGrowsWithoutBoundIsRefused() {
    var text = "vars:\n  v0: \(String(repeating: "x", count: 100))\n"
    for level in 1...12 { text += "  v\(level): \"" + String(repeating: "${v\(level - 1)}", count: 10) + "\"\n" }
    #expect(
      faults(text + "jobs: { a: { run: 'echo ${v12}' } }") == [
        "7:7: with its variables put in, this is longer than 1 MiB: shorten it"
      ])
  }
}
