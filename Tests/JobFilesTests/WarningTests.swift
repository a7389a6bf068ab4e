import JobFiles
import Testing

/// What is said of a file that can be run, but most likely means something else.
struct WarningTests {
  /// The warnings about a job whose `run` is written so, below vars `version` and `base`.
  private func warnings(run: String, more: String = "", sourceLocation: SourceLocation = #_sourceLocation) -> [String] {
    let text = "vars: { version: 1, base: b }\nenv: { shown: x }\njobs:\n  a:\n    run: \(run)\n\(more)"
    var found: [JobFileFault] = []
    do throws(JobFileFaults) {
      _ = try JobFile.decode(Array(text.utf8), file: "ci.yml", directory: "/jobs", environment: environment) {
        found.append($0)
      }
    } catch {
      Issue.record("\(error)", sourceLocation: sourceLocation)
    }
    #expect(found.allSatisfy { $0.isWarning }, sourceLocation: sourceLocation)
    return found.map { "\($0.line):\($0.column): \($0.message)" }
  }

  @Test func aNameCloseToAVarIsTold() {
    #expect(
      warnings(run: "echo ${verison}") == [
        "5:15: '${verison}' is left to the shell, which doesn't know it: did you mean '${version}'?"
      ])
  }

  @Test func aVarWithoutBracesIsTold() {
    #expect(
      warnings(run: "echo $version") == [
        "5:15: '$version' asks the shell for 'version', which is a var of this file: write ${version}, or give it to the "
          + "job in env"
      ])
  }

  @Test(arguments: [
    "echo ${HOME} $HOME ${TOKEN}", "echo ${vision_of_it} ${x:-y} $x", "for verison in 1 2; do echo ${verison}; done",
    "version=2; echo $version", "read verison; echo ${verison}", "echo ${shown} $shown", "echo ${version} $${verison}",
    #"echo \$version $$version"#, "make # all of it", "make   ## all of it", "echo 'a' \"b\" # c", "echo a#b",
    "'echo a' #b", "[ls, $HOME_TOO, a$HOME, \"$1\"]", "[./my program, b]", "awk '{print $NF}'",
  ])
  func whatAShellKnowsIsNotTold(run: String) {
    #expect(warnings(run: run).isEmpty)
  }

  @Test func aCommandThatYAMLCutsIsTold() {
    #expect(
      warnings(run: #"echo "issue #12""#) == [
        #"5:22: YAML takes '#12"' for a comment: put the command in quotes or below 'run: |'"#
      ])
    #expect(
      warnings(run: "close #12") == [
        "5:16: YAML takes '#12' for a comment: put the command in quotes or below 'run: |', or write '# ' if it is one"
      ])
    #expect(warnings(run: "|\n      echo \"issue #12\"").isEmpty)
  }

  @Test func aVariableThatNoShellReadsIsTold() {
    #expect(
      warnings(run: "[ls, $HOME/x, $version]", more: "    dir: $HOME/src\n    env: { P: \"$CI:x\" }\n") == [
        "5:15: '$HOME' stays as it is in a list, which no shell reads: write ${env.HOME}",
        "5:24: '$version' stays as it is in a list, which no shell reads: write ${version}",
        "6:10: '$HOME' stays as it is in dir, which no shell reads: write ${env.HOME}",
        "7:16: '$CI' stays as it is in env.P, which no shell reads: write ${env.CI}",
      ])
  }

  @Test func theProgressOfAServiceIsTold() {
    let keys = "    service: true\n    progress: '(\\d+)%'\n"
    #expect(
      warnings(run: "ls", more: keys) == [
        "7:5: a service has no end, so 'progress' shows nothing of use: delete it"
      ])
  }

  @Test(arguments: [
    (
      "'!gen.c'",
      "'!gen.c' leaves nothing out, because '!' is part of the name: delete it, or write './!gen.c' for that file"
    ),
    (
      "'*.{c,h}'",
      "the braces in '*.{c,h}' are part of the name: write an item for each alternative, or '[{]' for a brace"
    ),
  ])
  func aPatternOfAnotherToolIsTold(_ pattern: String, _ warning: String) {
    #expect(warnings(run: "make", more: "    inputs: [a, \(pattern)]\n") == ["6:17: " + warning])
    #expect(
      warnings(run: "make", more: "watch: { ignore: [a, \(pattern)] }\n") == ["6:22: " + warning])
  }

  @Test(arguments: ["./!gen.c", "a!", "a/!b", "*.[{]c,h}", "{a}", "a}{,b", "{a,b"])
  func aNameWithTheSignsOfOtherToolsIsNotTold(_ name: String) {
    #expect(warnings(run: "make", more: "    inputs: ['\(name)']\n").isEmpty)
  }

  @Test func warningsThatAreManyLeaveAFileGood() {
    let more = (0..<300).map { "  b\($0):\n    run: echo \"#\($0) #\($0)\n" }.joined()
    #expect(warnings(run: "ls", more: more).count == 100)
  }
}
