import Foundation

/// The folder of one run under the state folder: `runs/<identifier>/logs`.
package struct RunFolder: Sendable {
  package let id: String
  package let path: String

  /// Makes the folder; throws a sentence that names it and the mend.
  package init(in state: String, at date: Date = Date(), process: Int32 = getpid()) throws(RunFolderError) {
    let stamp = date.formatted(
      .verbatim(
        "\(year: .defaultDigits)\(month: .twoDigits)\(day: .twoDigits)-\(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased))\(minute: .twoDigits)\(second: .twoDigits)",
        locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian)))
    var number = 0
    while true {
      let id = "\(stamp)-\(process)" + (number == 0 ? "" : ".\(number)")
      let path = "\(state)/runs/\(id)"
      if !FileManager.default.fileExists(atPath: path) {
        if let problem = Self.makeFolders(path + "/logs") {
          throw RunFolderError(path: path, reason: String(cString: strerror(problem)))
        }
        self.id = id
        self.path = path
        return
      }
      number += 1
    }
  }

  /// Makes the folder and those above it, and returns the number of what went wrong: Foundation's own words hide it.
  private static func makeFolders(_ path: String) -> Int32? {
    guard mkdir(path, 0o755) != 0 else { return nil }
    let problem = errno
    if problem == EEXIST { return nil }
    guard problem == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return problem }
    return makeFolders(String(path[..<slash])) ?? (mkdir(path, 0o755) == 0 || errno == EEXIST ? nil : errno)
  }

  /// Removes what the run left empty: a run without output leaves nothing behind.
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
