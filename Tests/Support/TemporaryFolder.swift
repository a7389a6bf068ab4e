import Foundation

/// A folder for one test, removed with its content when the value is released.
package final class TemporaryFolder: Sendable {
  package let url: URL

  package init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "opdash-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  package func file(_ name: String) -> URL { url.appending(path: name) }

  /// The names in it, sorted, or in one of its folders.
  package func names(in folder: String = "") -> [String] {
    let path = folder.isEmpty ? url.path() : url.appending(path: folder).path()
    return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }
}
