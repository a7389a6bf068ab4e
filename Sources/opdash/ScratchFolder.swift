import Basics
import Foundation
import Session

/// A new folder below the folder for temporary files, for its owner only.
struct ScratchFolder {
  let url: URL

  var path: String { url.path(percentEncoded: false) }

  /// Throws a sentence that ends with the advice.
  init(_ name: String, advice: String) throws(UsageError) {
    url = FileManager.default.temporaryDirectory.appending(path: "opdash-\(name)-\(UUID().uuidString)")
    if let problem = PrivateFolder.make(path) {
      throw UsageError("can't make the folder \(path): \(String(cString: strerror(problem))); \(advice)")
    }
  }

  /// Removes the folder and its files, without an error where one can't be removed.
  func remove() { try? FileManager.default.removeItem(at: url) }
}
