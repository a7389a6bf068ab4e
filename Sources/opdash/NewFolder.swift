import Foundation
import Session

/// A folder that a command puts files in.
enum NewFolder {
  /// Makes the folder and its missing parents, or throws a sentence that ends with the advice.
  static func make(_ path: String, mode: Int? = nil, mend: String) throws(UsageError) {
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: mode.map { [.posixPermissions: $0] })
    } catch {
      let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
      let reason = cause.map { String(cString: strerror(Int32(($0 as NSError).code))) } ?? error.localizedDescription
      throw UsageError("can't make the folder \(path): \(reason); \(mend)")
    }
  }
}
