import Foundation

/// Why a process could not be started, with a sentence for people.
public struct ProcessError: Error, Sendable, Equatable, CustomStringConvertible, LocalizedError {
  /// What kind of fault it is.
  public enum Code: Sendable, Equatable {
    /// There are no arguments, or one holds a zero byte.
    case invalidArguments
    /// No file of this name, or none in the PATH.
    case programNotFound
    /// The file is there, but may not or can not be executed.
    case notExecutable
    /// The working directory is missing, is not a directory or may not be entered.
    case directoryUnusable
    /// The system has no descriptor, process or memory left.
    case outOfResources
    /// Everything was ended; nothing is started any more.
    case ended
    /// Another fault of the system, by its errno.
    case system(Int32)
  }

  /// What kind of fault it is.
  public let code: Code
  /// What was wrong, with what, and what to do.
  public let description: String
  /// The same as `description`.
  public var errorDescription: String? { description }

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  static func text(_ number: Int32) -> String { String(cString: strerror(number)) }

  /// What posix_spawn's errno means: it says neither which of the program and the directory it means, nor what is missing.
  static func launching(_ program: String, _ launch: ProcessLaunch, failedWith number: Int32) -> ProcessError {
    if let directory = launch.directory, let error = using(directory: directory) { return error }
    switch number {
    case ENOENT:
      let path = program.hasPrefix("/") ? program : (launch.directory.map { $0 + "/" } ?? "") + program
      guard access(path, F_OK) == 0 else { return ProcessError(.programNotFound, "\(program): no such program") }
      return ProcessError(
        .notExecutable, "\(program): the interpreter that it names is missing: look at its first line")
    case EACCES, EISDIR, EPERM:
      return ProcessError(
        .notExecutable, "\(program): not executable: a file with the permission to execute it is needed")
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

  private static func using(directory: String) -> ProcessError? {
    var status = stat()
    guard stat(directory, &status) == 0 else {
      let what = errno == ENOENT ? "no such directory" : text(errno)
      return ProcessError(.directoryUnusable, "\(directory): \(what)")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      return ProcessError(.directoryUnusable, "\(directory): not a directory")
    }
    guard access(directory, X_OK) == 0 else {
      return ProcessError(.directoryUnusable, "\(directory): may not be entered: \(text(errno))")
    }
    return nil
  }
}
