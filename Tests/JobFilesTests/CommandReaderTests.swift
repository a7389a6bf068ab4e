import JobFiles
import JobModel
import Testing

/// Commands, and what is said of those that mean something else.
struct CommandReaderTests {
  /// The warnings about a job with this command.
  private func warnings(_ run: String, sourceLocation: SourceLocation = #_sourceLocation) -> [String] {
    var found: [String] = []
    do throws(JobFileFaults) {
      _ = try JobFile.decode(Array("jobs:\n  a:\n    run: \(run)\n".utf8), file: "ci.yml", directory: "/jobs") {
        found.append("\($0.line):\($0.column): \($0.message)")
      }
    } catch {
      Issue.record("\(error)", sourceLocation: sourceLocation)
    }
    return found
  }

  @Test(arguments: [("sh", "sh"), ("bash", "bash"), ("/usr/bin/zsh", "zsh"), ("python3", "python3")])
  func anEmptyScriptIsToldItsShell(shell: String, name: String) {
    #expect(
      faults(job: "run: '', shell: \(shell)") == [
        "2:13: run is empty: it takes a command for \(name) as text, or a program and its arguments as a list"
      ])
  }

  @Test(arguments: [
    // Quotes that come in pairs do not reach over the comment.
    #"echo "a" "b" # c"#, "echo 'a' 'b' # c", "make #", "make # #12", "make ##12",
  ])
  func aCommentThatAShellWouldHaveIsNotTold(run: String) {
    #expect(warnings(run).isEmpty)
  }

  @Test(arguments: [
    ("echo 'issue #12'", "#12'"), (#"echo "a" "b # c""#, "# c\""), ("echo 'a' 'b # c'", "# c'"),
    (#"echo "a' b # c""#, "# c\""),
  ])
  func aQuoteThatYAMLCutsIsTold(run: String, comment: String) {
    let column = 10 + run.count - comment.count
    #expect(
      warnings(run) == [
        "3:\(column): YAML takes '\(comment)' for a comment: put the command in quotes or below 'run: |'"
      ])
  }

  @Test func aWordAfterTheMarkIsTold() {
    #expect(
      warnings("close 'a' #12") == [
        "3:20: YAML takes '#12' for a comment: put the command in quotes or below 'run: |', or write '# ' if it is one"
      ])
  }

  @Test func aPathOfAProgramMayHaveBlanks() {
    #expect(warnings("['/opt/my program', b]").isEmpty)
    #expect(warnings("['../my program', b]").isEmpty)
    #expect(
      warnings("['my program', b]") == [
        "3:11: a list is one program and its arguments, so 'my program' is the name of a program: "
          + "write commands as text, below 'run: |'"
      ])
  }
}
