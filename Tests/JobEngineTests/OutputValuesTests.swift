import Foundation
import Operations
import Support
import Testing

@testable import JobEngine

/// The file in which a program writes values.
@Suite struct OutputValuesTests {
  @Test(
    arguments: [
      ("", [:]), ("A=1", ["A": "1"]), ("A=1\n\nB=x=y\n", ["A": "1", "B": "x=y"]), ("A=1\nA=2\n", ["A": "2"]),
      ("A=\n", ["A": ""]), ("_a9= 1 \n", ["_a9": " 1 "]),
    ] as [(String, [String: String])])
  func eachLineIsANameAndAValue(text: String, values: [String: String]) {
    let read = OutputValues(text)
    #expect(read.values == values)
    #expect(read.fault == nil)
  }

  @Test(arguments: ["A", "=1", "9A=1", "A B=1", "a-b=1", "ä=1"])
  func aLineThatIsNoneIsNamedAndTheOthersCount(line: String) {
    let read = OutputValues("A=1\n\n\(line)\nno\nB=2\n")
    #expect(read.values == ["A": "1", "B": "2"])
    #expect(read.fault == "line 3 of $OPDASH_OUTPUT is not NAME=VALUE and is ignored: \(line)")
  }

  @Test func ofALongLineSixtyCharactersAreShown() {
    let line = String(repeating: "x", count: 61)
    #expect(OutputValues(line).fault?.hasSuffix("ignored: \(line.dropLast())") == true)
  }

  @Test(arguments: [true, false])
  func theFileIsRemovedUnlessItIsKept(isKept: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("values").path()
    #expect(OutputValues(file: path, isKept: isKept) == nil)
    try Data("A=1\n".utf8).write(to: folder.file("values"))
    #expect(OutputValues(file: path, isKept: isKept)?.values == ["A": "1"])
    #expect(FileManager.default.fileExists(atPath: path) == isKept)
  }

  @Test(arguments: [0, 1])
  func aMebibyteIsRead(more: Int) throws {
    let folder = try TemporaryFolder()
    let text = "A=" + String(repeating: "x", count: (1 << 20) - 2 + more)
    try Data(text.utf8).write(to: folder.file("values"))
    let read = try #require(OutputValues(file: folder.file("values").path(), isKept: false))
    #expect(read.values["A"]?.utf8.count == (1 << 20) - 2)
    #expect(read.fault == (more == 0 ? nil : "$OPDASH_OUTPUT has more than 1 MiB: what follows is ignored"))
  }

  @Test func aValueThatHoldsASecretIsNotGiven() throws {
    var read = OutputValues("B=a s3cret\nA=s3cret\nC=none\n")
    read.removeSecrets(try #require(SecretMask(["s3cret"])))
    #expect(read.values == ["C": "none"])
    #expect(read.fault == "A of $OPDASH_OUTPUT holds a secret, and is not given to other jobs")
    var plain = OutputValues("C=none\n")
    plain.removeSecrets(try #require(SecretMask(["s3cret"])))
    #expect(plain == OutputValues("C=none\n"))
  }
}
