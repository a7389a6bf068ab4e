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
    let read = read(text)
    #expect(read.values == values)
    #expect(read.fault == nil)
  }

  private func read(_ text: String) -> OutputValues { OutputValues(Array(text.utf8)) }

  @Test(
    arguments: [
      ("A=1\r\nB=2\r\n\r\nC=3\r\n", ["A": "1", "B": "2", "C": "3"]), ("A=1\r\nB=2", ["A": "1", "B": "2"]),
      ("A=1\r2\n", ["A": "1\r2"]), ("A=\u{301}\n", ["A": "\u{301}"]),
    ] as [(String, [String: String])])
  func aLineMayEndWithACarriageReturn(text: String, values: [String: String]) {
    #expect(read(text).values == values)
    #expect(read(text).fault == nil)
  }

  @Test(
    arguments: [
      ("A<<END\none\ntag=stolen\n\nEND\nB=2\n", ["A": "one\ntag=stolen\n", "B": "2"]), ("A<<E\nE\n", ["A": ""]),
      ("A<<E\r\none\r\ntwo\r\nE\r\n", ["A": "one\ntwo"]), ("A<<E\nx<<y\nE", ["A": "x<<y"]),
      ("A=x<<E\nB=1\n", ["A": "x<<E", "B": "1"]), ("A<<=\nB=1\n=\n", ["A": "B=1"]),
    ] as [(String, [String: String])])
  func aValueOfSeveralLinesEndsWithItsOwnLine(text: String, values: [String: String]) {
    #expect(read(text).values == values)
    #expect(read(text).fault == nil)
  }

  @Test func noLineOfAValueThatDoesNotEndIsAValue() {
    let read = read("B=1\nA<<END\ntag=stolen\n END\n")
    #expect(read.values == ["B": "1"])
    #expect(read.fault == "line 2 of $OPDASH_OUTPUT begins a value that no line END ends: what follows is ignored")
  }

  @Test(arguments: ["A", "=1", "9A=1", "A B=1", "a-b=1", "ä=1", "A<<", "A<E", "9A<<E"])
  func aLineThatIsNoneIsNamedAndTheOthersCount(line: String) {
    let read = read("A=1\n\n\(line)\nno\nB=2\n")
    #expect(read.values == ["A": "1", "B": "2"])
    #expect(read.fault == "line 3 of $OPDASH_OUTPUT is not NAME=VALUE and is ignored: \(line)")
  }

  @Test func ofALongLineSixtyCharactersAreShown() {
    let line = String(repeating: "x", count: 61)
    #expect(read(line).fault?.hasSuffix("ignored: \(line.dropLast())") == true)
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

  @Test func whatHasTakenTheFilesPlaceIsToldAndRemoved() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("values").path()
    try Data("A=1".utf8).write(to: folder.file("other"))
    for (make, words) in [
      ({ mkfifo(path, 0o600) }, "a named pipe"), ({ symlink(folder.file("other").path(), path) }, "a symbolic link"),
    ] {
      #expect(make() == 0)
      let read = try #require(OutputValues(file: path, isKept: false))
      #expect(read.values == [:])
      #expect(
        read.fault == "$OPDASH_OUTPUT is not read: it is \(words): leave the file in its place, and write to it")
      #expect(folder.names() == ["other"])
    }
  }

  @Test func ofASparseFileOneMebibyteIsRead() throws {
    let folder = try TemporaryFolder()
    try Data("A=1\n".utf8).write(to: folder.file("values"))
    #expect(truncate(folder.file("values").path(), 8 << 30) == 0)
    let read = try #require(OutputValues(file: folder.file("values").path(), isKept: false))
    #expect(read.values == ["A": "1"])
    #expect(read.faults == ["$OPDASH_OUTPUT has more than 1 MiB: what follows is ignored"])
  }

  @Test(arguments: [0, 1])
  func aMebibyteIsRead(more: Int) throws {
    let folder = try TemporaryFolder()
    let text = "B=1\nA=" + String(repeating: "x", count: (1 << 20) - 6 + more)
    try Data(text.utf8).write(to: folder.file("values"))
    let read = try #require(OutputValues(file: folder.file("values").path(), isKept: false))
    #expect(read.values["B"] == "1" && read.values["A"]?.utf8.count == (more == 0 ? (1 << 20) - 6 : nil))
    #expect(read.faults == (more == 0 ? [] : ["$OPDASH_OUTPUT has more than 1 MiB: what follows is ignored"]))
  }

  @Test func theLineThatTheLimitCutsIsNoValue() throws {
    let folder = try TemporaryFolder()
    let text = "A=" + String(repeating: "x", count: (1 << 20) - 20) + "\nPATH=/data/project/old\n"
    try Data(text.utf8).write(to: folder.file("values"))
    let read = try #require(OutputValues(file: folder.file("values").path(), isKept: false))
    #expect(read.values.keys.sorted() == ["A"])
  }

  @Test func aValueThatHoldsASecretIsNotGiven() throws {
    let secrets = try #require(SecretMask(["s3cret"]))
    let read = OutputValues(Array("B=a s3cret\nA=s3cret\nC=none\n".utf8), secrets: secrets)
    #expect(read.values == ["C": "none"] && read.fault == nil)
    #expect(read.secretFault == "A of $OPDASH_OUTPUT holds a secret, and is not given to other jobs")
    #expect(OutputValues(Array("C=none\n".utf8), secrets: secrets) == self.read("C=none\n"))
  }

  @Test func theFaultsOfAFileAreKeptApart() throws {
    let folder = try TemporaryFolder()
    let text = "A=s3cret\nB=1\n9=1\nC=" + String(repeating: "x", count: 1 << 20)
    try Data(text.utf8).write(to: folder.file("values"))
    let read = try #require(
      OutputValues(file: folder.file("values").path(), isKept: true, secrets: SecretMask(["s3cret"])))
    #expect(read.values == ["B": "1"])
    #expect(
      read.faults == [
        "line 3 of $OPDASH_OUTPUT is not NAME=VALUE and is ignored: 9=1",
        "A of $OPDASH_OUTPUT holds a secret, and is not given to other jobs",
        "$OPDASH_OUTPUT has more than 1 MiB: what follows is ignored",
      ])
  }

  @Test(arguments: [("the token ", ""), ("A<<", " ends")])
  func aSecretInALineIsMaskedBeforeTheLineIsCut(before: String, after: String) {
    let secret = String(repeating: "k3y", count: 30)
    let read = OutputValues(Array("\(before)\(secret)\n".utf8), secrets: SecretMask([secret]))
    #expect(read.fault?.contains("***\(after)") == true && read.fault?.contains("k3y") == false)
  }

  @Test func aValueThatIsNotUTF8IsNotGivenChanged() {
    let read = OutputValues(Array("A=1\nB=a".utf8) + [0xFF] + Array("b\nC=2\n".utf8))
    #expect(read.values == ["A": "1", "C": "2"])
    #expect(read.fault == "B of $OPDASH_OUTPUT is not UTF-8, and is not given to other jobs")
  }
}
