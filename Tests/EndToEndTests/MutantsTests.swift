import Foundation
import Support
import Testing

/// `Tests/mutants`, on programs that stand for tests.
struct MutantsTests {
  private static let mutants = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../mutants")
    .standardized.path()

  /// What is printed of the tests that `script` executes within 600 s, or as long as that says.
  private func failure(of script: String, within bound: String = "600") throws -> String {
    let code = """
      import importlib.util, sys
      from importlib.machinery import SourceFileLoader
      loader = SourceFileLoader("mutants", sys.argv[1])
      mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", loader))
      loader.exec_module(mutants)
      print(mutants.execute_tests(["sh", "-c", sys.argv[2]], None, float(sys.argv[3])))
      """
    return try ChildProcess.run(["python3", "-B", "-c", code, Self.mutants, script, bound]).output
  }

  @Test(arguments: [("exit 0", "None\n"), ("exit 69", "None\n"), ("exit 3", "ended with status 3\n")])
  func aProcessThatTheTestsLeaveIsNotWaitedFor(end: String, result: String) throws {
    let marker = ProcessTable.marker()
    defer { for pid in ProcessTable.processes(with: marker) { kill(pid, SIGKILL) } }
    #expect(try failure(of: "setsid sleep \(marker) & \(end)") == result)
  }

  @Test func theFirstIssueEndsTheTests() throws {
    let marker = ProcessTable.marker()
    let script = "echo one; printf 'Test a recorded '; echo 'an issue: x'; sleep \(marker)"
    #expect(try failure(of: script) == "Test a recorded an issue: x\n")
    #expect(eventually { ProcessTable.processes(with: "sleep\0\(marker)").isEmpty })
  }

  @Test func testsThatDoNotEndInTimeAreEnded() throws {
    let marker = ProcessTable.marker()
    #expect(try failure(of: "sleep \(marker)", within: "0.1") == "has not ended after 0 s\n")
    #expect(eventually { ProcessTable.processes(with: marker).isEmpty })
  }
}
