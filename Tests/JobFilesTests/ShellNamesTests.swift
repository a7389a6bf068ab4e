import JobFiles
import Testing

/// Warnings for the names in a script.
struct ShellNamesTests {
  /// The messages of the warnings about a script that is a text of one line.
  private func warnings(
    _ script: String, vars: String = "version: 1, base: b", env: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> [String] {
    let text = "vars: { \(vars) }\nenv: { \(env) }\njobs:\n  a:\n    run: |-\n      \(script)\n"
    var found: [String] = []
    do throws(JobFileFaults) {
      _ = try JobFile.decode(Array(text.utf8), file: "ci.yml", directory: "/jobs", environment: environment) {
        found.append($0.message)
      }
    } catch {
      Issue.record("\(error)", sourceLocation: sourceLocation)
    }
    return found
  }

  @Test(arguments: [
    "echo ${verison} verisons", "echo ${verison} averison", "echo ${verison} _verison", "echo ${verison} verison2",
    "echo ${verison} $verison", "echo ${verison} ${#verison}", "echo ${verison} ${!verison}",
  ])
  func aNameInsideOfAnotherIsNotSet(script: String) {
    #expect(
      warnings(script).contains(
        "'${verison}' is left to the shell, which doesn't know it: did you mean '${version}'?"))
  }

  @Test(arguments: [
    "verison=1; echo ${verison}", "echo ${verison}; read verison", "for verison in 1; do echo ${verison}; done",
    "(verison=1) ${verison}",
  ])
  func aNameThatTheScriptSetsIsTheShells(script: String) {
    #expect(warnings(script).isEmpty)
  }

  @Test func aVarThatTheShellHasTooIsNotTold() {
    #expect(warnings("echo $version").count == 1)
    #expect(warnings("echo $version", env: "version: x").isEmpty)
    #expect(warnings("echo $HOME", vars: "HOME: x").isEmpty)
    #expect(warnings("echo $base $version $base").count == 2)
  }

  @Test func aNameIsReadToItsEnd() {
    #expect(warnings("echo $versions $version_2 $version2 $aversion").isEmpty)
    #expect(warnings("echo $version.2 x$version-").count == 1)
    #expect(
      warnings("echo $a_1", vars: "a_1: x") == [
        "'$a_1' asks the shell for 'a_1', which is a var of this file: write ${a_1}, or give it to the job in env"
      ])
  }

  @Test(arguments: [
    ("echo {{version}}", "{{version}}"), ("echo {{ .version }}", "{{ .version }}"),
    ("echo {{  version  }} x", "{{  version  }}"),
  ])
  func aTemplateOfAnotherToolIsTold(script: String, template: String) {
    #expect(warnings(script) == ["'\(template)' is not replaced: write ${version}"])
  }

  @Test(arguments: ["echo {{other}}", "echo { version }", "echo {{version", "echo {{version|x}}"])
  func whatIsNoTemplateOfAVarIsNotTold(script: String) {
    #expect(warnings(script).isEmpty)
  }
}
