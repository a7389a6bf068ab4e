import Foundation
import Support
import Testing

@testable import Operations

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The text of an error, of any class.
@Suite struct ErrorTextTests {
  enum Plain: Error, Equatable {
    case missing
    case status(Int)
  }
  struct Fault: Error { var code: Int }
  struct Localized: LocalizedError { var errorDescription: String? { "the disk is full" } }
  struct Silent: LocalizedError {}
  struct Described: Error, CustomStringConvertible { var description: String { "no route" } }
  struct Coded: CustomNSError, CustomStringConvertible {
    static var errorDomain: String { "Coded" }
    var errorCode: Int { 4 }
    var description: String { "code 4 of ours" }
  }

  @Test func anErrorIsSaidInTheWordsThatItHas() {
    let unworded = NSError(domain: "disk", code: 3)
    let worded = NSError(domain: "disk", code: 3, userInfo: [NSLocalizedDescriptionKey: "The disk is full."])
    let cases: [(any Error, String)] = [
      (Plain.missing, "Plain.missing"), (Plain.status(404), "Plain.status(404)"), (Fault(code: 2), "Fault(code: 2)"),
      (Localized(), "the disk is full"), (Silent(), "Silent()"), (Described(), "no route"),
      (Coded(), "code 4 of ours"), (unworded, "disk error 3"), (worded, "The disk is full."),
      (URLError(.timedOut), "the request timed out"),
      (URLError(.badURL, userInfo: [NSLocalizedDescriptionKey: "bad URL"]), "bad URL"),
      (CancellationError(), "it was cancelled"),
    ]
    for (error, text) in cases { #expect(words(of: error) == text) }
  }

  @Test func aFilesErrorNamesTheFile() {
    let error = #expect(throws: CocoaError.self) { try String(contentsOfFile: "/nowhere", encoding: .utf8) }
    #expect(error.map(words(of:))?.contains("nowhere") == true)
    #expect(error.map(words(of:))?.contains("Error Domain") == false)
  }
}
