import Foundation

/// Why a file is not opened or read.
package struct FileProblem: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Reason: Sendable, Equatable {
    /// The system refuses, with this errno.
    case system(Int32)
    case isLink
    case isFolder
    case isPipe
    case isDevice
    case isSocket
    /// Another path leads to the same file, which would be overwritten.
    case hasOtherNames
    case isOfAnotherUser
    case isTooLarge(limit: Int)

    /// Nil for a regular file.
    init?(kind: mode_t) {
      switch kind {
      case S_IFREG: return nil
      case S_IFLNK: self = .isLink
      case S_IFDIR: self = .isFolder
      case S_IFIFO: self = .isPipe
      case S_IFSOCK: self = .isSocket
      default: self = .isDevice
      }
    }

    /// As after "it is", or the words of the system.
    package var words: String {
      switch self {
      case .system(let number): String(cString: strerror(number))
      case .isLink: "a symbolic link"
      case .isFolder: "a folder"
      case .isPipe: "a named pipe"
      case .isDevice: "a device"
      case .isSocket: "a socket"
      case .hasOtherNames: "a hard link to another file"
      case .isOfAnotherUser: "a file of another user"
      case .isTooLarge(let limit): limit >= 1 << 20 ? "larger than \(limit >> 20) MiB" : "larger than \(limit) bytes"
      }
    }
  }

  package var path: String
  package var reason: Reason

  package init(_ path: String, _ reason: Reason) {
    self.path = path
    self.reason = reason
  }

  /// Whether the file does not exist.
  package var isAbsence: Bool { reason == .system(ENOENT) || reason == .system(ENOTDIR) }

  /// A clause without the path, with the remedy.
  package var message: String {
    switch reason {
    case .system: reason.words
    case .isLink, .hasOtherNames, .isOfAnotherUser: "it is \(reason.words): remove it"
    case .isFolder, .isPipe, .isDevice, .isSocket: "it is \(reason.words): name a regular file"
    case .isTooLarge: "it is \(reason.words): split it"
    }
  }

  /// Why a file that a job was to write, at the path in a variable, is not read; with the remedy.
  package func refusal(of variable: String) -> String {
    switch reason {
    case .system: "\(variable) can't be read: \(message)"
    case .isTooLarge: "\(variable) is not read: \(message)"
    default: "\(variable) is not read: it is \(reason.words): leave the file in its place, and write to it"
    }
  }

  package var description: String { "\(path): \(message)" }
}
