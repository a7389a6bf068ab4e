/// Names the file that keeps an attempt's output.
package enum LogPath {
  /// The job's name with unsafe characters replaced, its index, which keeps files apart, and the attempt:
  /// `logs/build_linux_.12.1.log`.
  package static func file(in folder: String, job: String, id: JobID, attempt: Int) -> String {
    let safe = String(
      job.unicodeScalars.prefix(80).map { scalar -> Character in
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_": Character(scalar)
        default: "_"
        }
      })
    return "\(folder)/logs/\(safe).\(id.index).\(attempt).log"
  }
}
