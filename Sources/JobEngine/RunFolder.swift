import Basics
import Foundation
import JobModel

/// The folder of one run under the state folder: `runs/<identifier>/logs`.
///
/// Only the owner can access the folders that it creates; the mode of an existing folder is left alone.
package struct RunFolder: Sendable {
  package let id: String
  package let path: String

  /// Creates the folder; throws an error with the folder and advice.
  package init(in state: String, at date: Date = Date(), process: Int32 = getpid()) throws(RunFolderError) {
    // Any other style, and a time zone's name, would load the tables of ICU, which takes milliseconds.
    let digits = date.eventText.filter(\.isNumber)
    let stamp = "\(digits.prefix(8))-\(digits.dropFirst(8).prefix(6))"
    var number = 0
    while true {
      let id = "\(stamp)-\(process)" + (number == 0 ? "" : ".\(number)")
      let path = "\(state)/runs/\(id)"
      // Anything that already exists at the path, including a dangling symbolic link, is not this run's.
      let problem = PrivateFolder.make(path) ?? PrivateFolder.make(path + "/logs")
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
