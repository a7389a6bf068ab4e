import Foundation

/// The folder of one run under the state folder: `runs/<identifier>/logs`.
///
/// Only the owner can access the folders that it creates; the mode of an existing folder is left alone.
package struct RunFolder: Sendable {
  package let id: String
  package let path: String

  /// Creates the folder; throws an error with the folder and advice.
  package init(in state: String, at date: Date = Date(), process: Int32 = getpid()) throws(RunFolderError) {
    let stamp = date.formatted(
      .verbatim(
        "\(year: .defaultDigits)\(month: .twoDigits)\(day: .twoDigits)-\(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased))\(minute: .twoDigits)\(second: .twoDigits)",
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian)))
    var number = 0
    while true {
      let id = "\(stamp)-\(process)" + (number == 0 ? "" : ".\(number)")
      let path = "\(state)/runs/\(id)"
      // Anything that already exists at the path, including a dangling symbolic link, is not this run's.
      let problem = Self.makeFolder(path) ?? Self.makeFolder(path + "/logs")
      if let problem, problem != EEXIST {
        throw RunFolderError(path: path, reason: String(cString: strerror(problem)))
      }
      if problem == nil {
        self.id = id
        self.path = path
        return
      }
      number += 1
    }
  }

  /// Creates a new folder and the missing folders above it; returns the error number, which Foundation hides.
  private static func makeFolder(_ path: String) -> Int32? {
    guard mkdir(path, 0o700) != 0 else { return nil }
    let problem = errno
    guard problem == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return problem }
    // Another run may create them at the same time.
    let above = makeFolder(String(path[..<slash]))
    guard above == nil || above == EEXIST else { return above }
    return mkdir(path, 0o700) == 0 ? nil : errno
  }

  /// Removes the folders that are empty: a run without output leaves nothing behind.
  package func removeIfEmpty() {
    rmdir(path + "/logs")
    rmdir(path)
  }
}

package struct RunFolderError: Error, CustomStringConvertible {
  package var path: String
  package var reason: String

  package var description: String { "cannot make the run's folder \(path): \(reason); name another with --state DIR" }
}
