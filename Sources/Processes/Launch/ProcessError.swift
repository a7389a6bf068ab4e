import Foundation
import Operations

/// The reason that a process could not be started or was stopped, as a code and a sentence.
public struct ProcessError: Error, Sendable, Equatable, CustomStringConvertible, LocalizedError {
  /// The kinds of error that a program treats differently.
  public enum Code: Sendable, Equatable {
    /// The argument list is empty, or an argument or an environment variable can't be passed on.
    case invalidArguments
    /// No file has this name, or none in the PATH.
    case programNotFound
    /// The file exists, but can't or may not be executed.
    case notExecutable
    /// The working directory is missing, is not a directory or may not be entered.
    case directoryUnusable
    /// The file for the standard input is missing or may not be read.
    case inputUnusable
    /// The program exceeded the limit of its output and was stopped.
    case outputTooLong
    /// The system has no descriptors, processes or memory left.
    case outOfResources
    /// The supervisor has ended all processes and starts no more.
    case ended
    /// Another error, by its errno.
    case system(Int32)
  }

  /// The kind of error.
  public let code: Code
  /// One sentence with the file, the error and, if there is any, advice.
  public let description: String
  /// The same as `description`.
  public var errorDescription: String? { description }

  /// Creates an error from its parts.
  public init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  static func text(_ number: Int32) -> String { String(cString: strerror(number)) }

  static func notExecutable(_ file: String) -> ProcessError {
    ProcessError(.notExecutable, "\(file): not executable: a file with the permission to execute it is needed")
  }

  /// Explains the errno of a launch, which may be the program's, its interpreter's or the directory's.
  static func launching(_ program: String, in directory: String?, failedWith number: Int32) -> ProcessError {
    if let directory, let error = using(directory: directory) { return error }
    switch number {
    case ENOENT:
      let path = program.isAbsolutePath ? program : (directory.map { $0 + "/" } ?? "") + program
      guard access(path, F_OK) == 0 else { return ProcessError(.programNotFound, "\(program): no such program") }
      return ProcessError(
        .notExecutable, "\(program): the interpreter that it names is missing: look at its first line")
    case EACCES, EISDIR, EPERM:
      return notExecutable(program)
    case ENOTDIR:
      return ProcessError(.programNotFound, "\(program): no such program: a part of its path is not a directory")
    case ENOEXEC:
      return ProcessError(
        .notExecutable, "\(program): not a program of this system: a script needs a first line as #!/bin/sh")
    case E2BIG:
      return ProcessError(.invalidArguments, "\(program): the arguments and the environment together are too long")
    case EMFILE, ENFILE:
      return ProcessError(.outOfResources, "\(program): no file descriptor left: use fewer slots, or raise ulimit -n")
    case EAGAIN, ENOMEM:
      return ProcessError(.outOfResources, "\(program): no process or memory left: use fewer slots, or raise ulimit -u")
    default:
      return ProcessError(.system(number), "\(program): can't be started: \(text(number))")
    }
  }

  /// Explains the errno of opening a terminal.
  static func terminal(_ program: String, failedWith number: Int32) -> ProcessError {
    switch number {
    case EMFILE, ENFILE, ENOSPC, ENOMEM, EAGAIN:
      let remedy = "use fewer slots, or raise ulimit -n and kernel.pty.max"
      return ProcessError(.outOfResources, "\(program): no pseudo-terminal left: \(text(number)): \(remedy)")
    default:
      return ProcessError(.system(number), "\(program): no pseudo-terminal can be made: \(text(number))")
    }
  }

  private static func using(directory: String) -> ProcessError? {
    guard !directory.isEmpty else {
      let text = "the working directory is an empty text: leave it out for the directory of this program"
      return ProcessError(.directoryUnusable, text)
    }
    guard let status = FileStatus(directory, followsLink: true) else {
      let what = errno == ENOENT ? "no such directory" : text(errno)
      return ProcessError(.directoryUnusable, "\(directory): \(what)")
    }
    guard status.kind == S_IFDIR else {
      return ProcessError(.directoryUnusable, "\(directory): not a directory")
    }
    guard access(directory, X_OK) == 0 else {
      return ProcessError(.directoryUnusable, "\(directory): may not be entered: \(text(errno))")
    }
    return nil
  }
}
