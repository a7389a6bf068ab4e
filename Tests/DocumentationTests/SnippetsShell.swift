import Foundation
import Operations
import Processes
import Support
import Testing

/// The examples of the article `Processes`.
@Suite struct ShellSnippetTests {
  @Test func theOverviewRunsACommand() {
    let said = Said()
    @Sendable func print(_ text: some Sendable) { said.append(text) }
    let commit = ShellOperation("git", "rev-parse", "HEAD", output: .string(limit: 100))
    let queue = OperationQueue()
    queue.addOperations([commit], waitUntilFinished: true)
    switch commit.outcome {
    case .success(let result)?: print("at \(result.output)")
    case .failure(let error)?: print(error)  // git exited with status 128: fatal: not a git repository
    case nil: break
    }
    let text = said.last ?? ""
    #expect(text.hasPrefix("at ") || text.hasPrefix("git exited with status 128: fatal: "), "\(text)")
  }

  @Test func aResultIsPrintedFromTheMainQueue() async {
    let said = Said()
    @Sendable func print(_ text: some Sendable) { said.append(text) }
    let listing = ShellOperation("ls", "-l", output: .string(limit: 1 << 20))
    listing.result(on: .main) { result in if case .success(let result) = result { print(result.output) } }
    OperationQueue().addOperation(listing)
    #expect(await soon { said.count == 1 })
  }

  @Test func theTextOfOthersIsPassedInTheEnvironment() {
    let name = "a file; rm -rf ~"
    let count = ShellOperation(shell: #"grep -c . "$NAME""#, environment: ["NAME": name], output: .string(limit: 100))
    OperationQueue().addOperations([count], waitUntilFinished: true)
    let failure = count.failure as? ShellFailure
    #expect(failure?.exit == .exited(2))
    #expect(failure?.result.standardError.text.contains("a file; rm -rf ~") == true)
  }

  @Test func outputHasManyWays() {
    let build = ShellOperation(
      "make", "-j4", directory: "sdk", environment: ["LANG": "C"],
      output: .lines { line in print("sdk:", line) },
      error: .string(limit: 1 << 16, whenExceeded: .keepEnd))
    OperationQueue().addOperations([build], waitUntilFinished: true)
    // There is no such directory, or no make.
    #expect(build.failure is ProcessError)
    #expect(build.name == "make -j4")
  }

  @Test func aFailureTellsItsExit() {
    let said = Said()
    @Sendable func print(_ failure: ShellFailure, _ output: String) { said.append(failure) }
    let search = ShellOperation("grep", "-r", "deprecated", ".", output: .string(limit: 1 << 20))
    search.result { result in
      guard case .failure(let failure as ShellFailure) = result, failure.exit != .exited(1) else { return }
      print(failure, failure.result.output)
    }
    search.cancel()
    OperationQueue().addOperations([search], waitUntilFinished: true)
    #expect(search.failure is CancellationError)
    let server = ShellOperation(
      ProcessLaunch(["nginx", "-g", "daemon off;"], stopSignal: SIGQUIT, grace: .seconds(30)))
    #expect(server.name == "nginx -g daemon off;")
  }
}
