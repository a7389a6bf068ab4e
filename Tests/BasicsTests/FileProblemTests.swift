import Basics
import Foundation
import Testing

struct FileProblemTests {
  @Test(
    arguments: [
      (.system(ENOENT), "No such file or directory"), (.isLink, "it is a symbolic link: remove it"),
      (.isFolder, "it is a folder: name a regular file"), (.isPipe, "it is a named pipe: name a regular file"),
      (.isDevice, "it is a device: name a regular file"), (.isSocket, "it is a socket: name a regular file"),
      (.hasOtherNames, "it is a hard link to another file: remove it"),
      (.isOfAnotherUser, "it is a file of another user: remove it"),
      (.isTooLarge(limit: 5), "it is larger than 5 bytes: split it"),
      (.isTooLarge(limit: 64 << 20), "it is larger than 64 MiB: split it"),
    ] as [(FileProblem.Reason, String)])
  func aProblemIsToldWithItsRemedy(_ reason: FileProblem.Reason, _ text: String) {
    #expect(FileProblem("/a", reason).message == text)
    #expect(FileProblem("/a", reason).description == "/a: \(text)")
  }

  @Test(
    arguments: [
      (.system(EACCES), "$F can't be read: Permission denied"),
      (.isTooLarge(limit: 1 << 20), "$F is not read: it is larger than 1 MiB: split it"),
      (.isPipe, "$F is not read: it is a named pipe: leave the file in its place, and write to it"),
    ] as [(FileProblem.Reason, String)])
  func aFileThatAJobWasToWriteIsRefused(_ reason: FileProblem.Reason, _ text: String) {
    #expect(FileProblem("/a", reason).refusal(of: "$F") == text)
  }

  @Test func onlyAMissingFileIsAbsent() {
    #expect(FileProblem("/a", .system(ENOENT)).isAbsence && FileProblem("/a", .system(ENOTDIR)).isAbsence)
    #expect(!FileProblem("/a", .system(EACCES)).isAbsence && !FileProblem("/a", .isFolder).isAbsence)
  }
}
