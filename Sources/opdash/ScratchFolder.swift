import Foundation
import Session

/// A new folder below the folder for temporary files, for its owner only.
struct ScratchFolder {
  let url: URL

  var path: String { url.path(percentEncoded: false) }

  /// Throws a sentence that ends with the advice.
  init(_ name: String, advice: String) throws(UsageError) {
    url = FileManager.default.temporaryDirectory.appending(path: "opdash-\(name)-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
      let reason = cause.map { String(cString: strerror(Int32(($0 as NSError).code))) } ?? error.localizedDescription
      throw UsageError("can't make the folder \(path): \(reason); \(advice)")
    }
  }

  /// Removes the folder and its files, without an error where one can't be removed.
  func remove() { try? FileManager.default.removeItem(at: url) }
}
