import Foundation
import JobModel
import Operations
import Testing

@testable import JobEngine

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct FailureLineTests {
  private enum Plain: Error { case badThing(Int) }

  private struct Localized: LocalizedError {
    var errorDescription: String? { "the disk is full\nand more" }
  }

  private struct Reasoned: LocalizedError {
    var failureReason: String? { "the reason" }
  }

  private struct Custom: CustomNSError {
    var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: "custom words"] }
  }

  @Test func eachKindOfErrorSaysWhatItKnows() throws {
    #expect(JobFailure.line(of: Plain.badThing(3)) == "Plain.badThing(3)")
    #expect(JobFailure.line(of: Localized()) == "the disk is full")
    #expect(JobFailure.line(of: Reasoned()) == "the reason")
    #expect(JobFailure.line(of: Custom()) == "custom words")
    #expect(JobFailure.line(of: NSError(domain: "d", code: 3)) == "d error 3")
    #expect(
      JobFailure.line(of: NSError(domain: "d", code: 3, userInfo: [NSLocalizedDescriptionKey: "words"])) == "words")
    #expect(JobFailure.line(of: POSIXError(.ENOENT)) == "No such file or directory")
    let missing = #expect(throws: (any Error).self) { try Data(contentsOf: URL(filePath: "/nonexistent/file")) }
    let error = try #require(missing)
    #expect(JobFailure.line(of: error).hasSuffix("exist: /nonexistent/file"))
    #expect(JobFailure.line(of: Localized()).count <= 200)
  }

  @Test func anErrorOfURLSessionHasWordsAndACause() {
    #expect(JobFailure.line(of: URLError(.timedOut)) == "the request timed out")
    #expect(JobFailure.line(of: URLError(.cannotFindHost)) == "the host was not found")
    #expect(
      JobFailure.line(of: URLError(.cannotConnectToHost, userInfo: [NSLocalizedDescriptionKey: "refused by 10.0.0.1"]))
        == "refused by 10.0.0.1")
    #expect(JobFailure(of: URLError(.timedOut)) == JobFailure(.timedOut, "the request timed out"))
    #expect(JobFailure(of: URLError(.networkConnectionLost)).cause == .network)
    #expect(JobFailure(of: Localized()) == JobFailure(.error, "the disk is full"))
  }

  @Test func theFailureOfAGroupNamesItsFirstChildAndThatChildsOwnWords() throws {
    let child = ClosureOperation<Int> { throw Localized() }
    child.name = "child"
    let other = ClosureOperation<Int> { throw URLError(.timedOut) }
    other.name = "other"
    other.addDependency(child)
    let inner = GroupOperation([child, other])
    inner.name = "inner"
    let outer = GroupOperation([inner])
    let queue = OperationQueue()
    queue.addOperation(outer)
    outer.waitUntilFinished()
    let failure = try #require(outer.failure)
    #expect(JobFailure.line(of: failure) == "inner failed: child failed: the disk is full (and 1 more)")
  }

  @Test(arguments: [199, 200, 201])
  func ofLongWordsTwoHundredCharactersAreShown(count: Int) {
    let words = String(repeating: "x", count: count)
    let error = NSError(domain: "d", code: 3, userInfo: [NSLocalizedDescriptionKey: words])
    #expect(JobFailure.line(of: error) == (count <= 200 ? words : String(repeating: "x", count: 199) + "…"))
  }
}
