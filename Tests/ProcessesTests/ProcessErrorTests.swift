import Foundation
import Support
import Testing

@testable import Processes

/// The sentences of what can't be started, by the number that the system gives.
struct ProcessErrorTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Data().write(to: folder.file("tool"))
  }

  private var directory: String { folder.url.path }

  private func error(_ program: String, in directory: String? = nil, _ number: Int32) -> ProcessError {
    .launching(program, in: directory, failedWith: number)
  }

  @Test(
    arguments: [
      (EACCES, .notExecutable, "not executable: a file with the permission to execute it is needed"),
      (EISDIR, .notExecutable, "not executable: a file with the permission to execute it is needed"),
      (EPERM, .notExecutable, "not executable: a file with the permission to execute it is needed"),
      (ENOTDIR, .programNotFound, "no such program: a part of its path is not a directory"),
      (ENOEXEC, .notExecutable, "not a program of this system: a script needs a first line as #!/bin/sh"),
      (E2BIG, .invalidArguments, "the arguments and the environment together are too long"),
      (EMFILE, .outOfResources, "no file descriptor left: use fewer slots, or raise ulimit -n"),
      (ENFILE, .outOfResources, "no file descriptor left: use fewer slots, or raise ulimit -n"),
      (EAGAIN, .outOfResources, "no process or memory left: use fewer slots, or raise ulimit -u"),
      (ENOMEM, .outOfResources, "no process or memory left: use fewer slots, or raise ulimit -u"),
      (EIO, .system(EIO), "can't be started: Input/output error"),
      (ENOENT, .programNotFound, "no such program"),
    ] as [(Int32, ProcessError.Code, String)])
  func eachFaultHasItsSentence(number: Int32, code: ProcessError.Code, text: String) {
    #expect(error("/no/such/tool", number) == ProcessError(code, "/no/such/tool: \(text)"))
  }

  @Test func aProgramThatIsThereLacksItsInterpreter() {
    let text = "the interpreter that it names is missing: look at its first line"
    #expect(error(directory + "/tool", ENOENT) == ProcessError(.notExecutable, "\(directory)/tool: \(text)"))
    // A relative one is that of its directory.
    #expect(error("tool", in: directory, ENOENT) == ProcessError(.notExecutable, "tool: \(text)"))
    #expect(error("tool", in: "/usr", ENOENT) == ProcessError(.programNotFound, "tool: no such program"))
    #expect(error(directory + "/tool", in: "/usr", ENOENT).code == .notExecutable)
  }

  @Test func aDirectoryThatCannotBeUsedIsTheFirstFault() {
    func fault(_ path: String) -> ProcessError { error("/no/such/tool", in: path, ENOENT) }
    #expect(fault("/no/such") == ProcessError(.directoryUnusable, "/no/such: no such directory"))
    let file = directory + "/tool"
    #expect(fault(file) == ProcessError(.directoryUnusable, "\(file): not a directory"))
    #expect(fault(file + "/x") == ProcessError(.directoryUnusable, "\(file)/x: Not a directory"))
    #expect(fault(directory).code == .programNotFound)
    let empty = "the working directory is an empty text: leave it out for the directory of this program"
    #expect(fault("") == ProcessError(.directoryUnusable, empty))
  }

  @Test(arguments: [EMFILE, ENFILE, ENOSPC, ENOMEM, EAGAIN]) func aLackOfTerminalsIsOneOfResources(number: Int32) {
    let error = ProcessError.terminal("make", failedWith: number)
    #expect(error.code == .outOfResources)
    #expect(error.description.hasPrefix("make: no pseudo-terminal left: "))
  }

  @Test func anotherFaultOfATerminalHasTheSystemsWords() {
    let fault = ProcessError(.system(EIO), "make: no pseudo-terminal can be made: Input/output error")
    #expect(ProcessError.terminal("make", failedWith: EIO) == fault)
  }
}
