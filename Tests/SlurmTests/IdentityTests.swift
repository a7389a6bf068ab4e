import Foundation
import Testing

@testable import Slurm

@Suite struct IdentityTests {
  @Test(arguments: [
    "build", "build[linux, x64]", "a/b", "ü ö", "..", "", "100%", "a.b", String(repeating: "x", count: 300),
  ])
  func aCommentAndAFileNameNameTheAttempt(name: String) {
    let identity = SlurmIdentity(run: "run 1", job: name, attempt: 3)
    #expect(SlurmIdentity.Comment(identity.comment) == .job(identity))
    #expect(SlurmIdentity(fileName: identity.fileName, encodedRun: identity.run) == identity)
    #expect(!identity.fileName.contains { $0 == "/" || $0.isWhitespace })
    #expect(!identity.fileName.hasPrefix("."))
    #expect(identity.fileName.utf8.count < 200)
  }

  @Test func longNamesThatBeginAlikeAreToldApart() {
    let long = String(repeating: "x", count: 300)
    #expect(
      SlurmIdentity(run: "r", job: long + "a", attempt: 1) != SlurmIdentity(run: "r", job: long + "b", attempt: 1))
  }

  @Test(arguments: ["", "(null)", "opdash", "opdash/r", "opdash/r/a", "opdash/r/a/x", "else/r/a/1", "opdash/r/a/1/2"])
  func aCommentOfSomeoneElseNamesNothing(comment: String) {
    #expect(SlurmIdentity.Comment(comment) == nil)
  }

  @Test func aCommentOfAnArrayNamesItsList() {
    let comment = SlurmIdentity.comment(ofBatch: "x1", run: "r")
    #expect(SlurmIdentity.Comment(comment) == .batch(run: "r", name: "x1"))
  }

  @Test func numbersAreReadAndWrittenAsSlurmDoes() {
    #expect(SlurmJobID("12") == SlurmJobID(12))
    #expect(SlurmJobID("12_3") == SlurmJobID(12, index: 3))
    #expect(SlurmJobID("12_3")?.description == "12_3")
    for text in ["", "x", "12_", "12_[0-3]", "_1", "0", "-1"] { #expect(SlurmJobID(text) == nil, "\(text)") }
  }

  @Test func manyNumbersBecomeFewWords() {
    let ids = [1, 0, 2, 7, 9, 8, 4].map { SlurmJobID(12, index: $0) } + [SlurmJobID(5), SlurmJobID(3)]
    #expect(ids.words == ["3", "5", "12_[0-2,4,7-9]"])
  }
}
