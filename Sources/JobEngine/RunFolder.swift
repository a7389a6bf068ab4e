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
        do {
          try FileManager.default.createDirectory(atPath: path + "/logs", withIntermediateDirectories: true)
        } catch {
          throw RunFolderError(path: path, reason: (error as NSError).localizedDescription)
        }
        self.id = id
        self.path = path
        return
      }
      number += 1
    }
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
