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

  /// Writes an executable file.
  ///
  /// Another process writes it. A child that a test starts meanwhile would inherit the descriptor from this process, and while
  /// it is open for writing the file cannot be executed (ETXTBSY).
  @discardableResult package func addProgram(_ name: String, _ text: String) throws -> URL {
    let source = file(name + ".text")
    let program = file(name)
    try Data(text.utf8).write(to: source)
    _ = try ChildProcess.run(["/bin/cp", source.path(), program.path()])
    _ = try ChildProcess.run(["/bin/chmod", "755", program.path()])
    try FileManager.default.removeItem(at: source)
    return program
  }

  /// The names in it, sorted, or in one of its folders.
  package func names(in folder: String = "") -> [String] {
    let place = folder.isEmpty ? url : url.appending(path: folder)
    return ((try? FileManager.default.contentsOfDirectory(atPath: place.path(percentEncoded: false))) ?? []).sorted()
  }
}
