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
    let last = [Int.max - 1, Int.max].map { SlurmJobID(1, index: $0) }
    #expect(last.words == ["1_[\(Int.max - 1)-\(Int.max)]"])
  }

  @Test(arguments: [
    ("a-b_C.9", "a-b_C.9"), ("a b", "a%20b"), ("a/b", "a%2fb"), ("a\tb\n", "a%09b%0a"), ("", "%"), (".", "%."),
    (".a", "%.a"), ("100%", "100%25"), ("ü", "%c3%bc"),
  ])
  func aNameIsWrittenWithoutWhatIsSpecial(name: String, encoded: String) {
    #expect(SlurmIdentity.encoded(name) == encoded)
  }

  /// The hash is FNV-1a of the whole name.
  @Test func aNameOfMoreThan120BytesIsCutToThem() {
    let longest = String(repeating: "x", count: 120)
    #expect(SlurmIdentity.encoded(longest) == longest)
    #expect(SlurmIdentity.encoded(longest + "x") == String(repeating: "x", count: 103) + "-d77cbbf2c7cf1f67")
  }

  @Test(arguments: ["opdash/r//a/1", "opdash//r/a/1", "opdash/r/a/1/", "/opdash/r/a/1", "opdash/@r"])
  func aCommentWithEmptyPartsHasThemToo(comment: String) {
    #expect(SlurmIdentity.Comment(comment) == nil)
  }

  @Test func aCommentNamesItsRun() {
    #expect(SlurmIdentity.Comment("opdash/r/a/2")?.run == "r")
    #expect(SlurmIdentity.Comment("opdash/r/@x")?.run == "r")
    #expect(SlurmIdentity.Comment("opdash/r/@x") == .batch(run: "r", name: "x"))
  }

  @Test(
    arguments: [("a.3", "a", 3), ("a.b.12", "a.b", 12), ("a", nil, 0), ("a.", nil, 0), ("a.x", nil, 0)]
      as [(String, String?, Int)])
  func aFileNameEndsWithTheAttempt(name: String, job: String?, attempt: Int) {
    let identity = job.map { SlurmIdentity(encodedRun: "r", job: $0, attempt: attempt) }
    #expect(SlurmIdentity(fileName: name, encodedRun: "r") == identity)
  }

  @Test(arguments: ["12_3_4", "12_3_", "1 2", "12_x"])
  func aNumberHasOneIndexAtMost(text: String) {
    #expect(SlurmJobID(text) == nil)
  }

  @Test(
    arguments: [
      ([], []), ([SlurmJobID(4)], ["4"]), ([SlurmJobID(4, index: 0)], ["4_[0]"]),
      ([SlurmJobID(4, index: 5), SlurmJobID(4, index: 6)], ["4_[5-6]"]),
      ([SlurmJobID(4, index: 5), SlurmJobID(4, index: 7), SlurmJobID(4, index: 5)], ["4_[5,7]"]),
      ([SlurmJobID(10, index: 1), SlurmJobID(9)], ["9", "10_[1]"]),
    ] as [([SlurmJobID], [String])])
  func theWordsOfNumbersAreSortedAndEachNamesOneArray(ids: [SlurmJobID], words: [String]) {
    #expect(ids.words == words)
  }
}
