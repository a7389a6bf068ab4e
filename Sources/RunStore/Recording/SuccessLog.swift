import Basics
import Foundation
import JobModel

/// The file `succeeded` in a run's folder: a line for each success, written by the thread that finishes the operation.
///
/// Without it a run that is killed would lose the successes since the last commit of its `RunRecorder`, which removes the file
/// when the whole run is on disk. For any thread. A failed write is ignored: the store reports a full disk.
package final class SuccessLog: Sendable {
  /// One line of the file.
  struct Entry: Equatable {
    var success: AttemptSuccess
    var at: Date
    var fingerprint: String?
  }

  private let folder: String
  private let fingerprint: @Sendable (JobID) -> String?
  /// Nil before the first success, -1 if the file can't be made.
  private let file = Lock<Int32?>(nil)

  /// Makes no file before the first success; `fingerprint` gives each job's.
  package init(folder: String, fingerprint: @escaping @Sendable (JobID) -> String?) {
    self.folder = folder
    self.fingerprint = fingerprint
  }

  deinit {
    if let descriptor = file.withLock(\.self), descriptor >= 0 { close(descriptor) }
  }

  /// Returns when the kernel has the line, which thereby survives this process.
  package func append(_ success: AttemptSuccess) {
    let entry = Entry(success: success, at: Date(), fingerprint: fingerprint(success.job))
    let line = Array(entry.line.utf8)
    file.withLock { file in
      let descriptor = file ?? (try? ForeignFile.open(Self.path(in: folder), for: .appending, .own)) ?? -1
      file = descriptor
      if descriptor >= 0 { try? ForeignFile.write(line, to: descriptor, Self.path(in: folder)) }
    }
  }

  /// Removes the file, and the run's folder if nothing else is in it.
  func remove() {
    unlink(Self.path(in: folder))
    rmdir(folder)
  }

  /// The entries of a run's file, in the order of writing; none without a file.
  static func read(in folder: String) -> [Entry] {
    let text = (try? ForeignFile.contents(path(in: folder), .own, limit: limit)) ?? []
    // A full disk may cut a line.
    return String(decoding: text, as: UTF8.self).lines.compactMap(Entry.init)
  }

  /// The size for a million jobs.
  private static let limit = 256 << 20

  private static func path(in folder: String) -> String { "\(folder)/succeeded" }
}

extension SuccessLog.Entry {
  /// Job, attempt, seconds that it took, end in seconds since 1970, fingerprint, hash of the inputs, values as JSON in
  /// base64, and an end mark.
  ///
  /// Begins with a line feed, so that it is not joined to an earlier line that was cut.
  fileprivate var line: String {
    "\n\(success.job.index) \(success.attempt) \(success.took / .seconds(1)) \(at.timeIntervalSince1970) "
      + "\(fingerprint ?? "-") \(success.inputsHash ?? "-") \(values ?? "-") .\n"
  }

  private var values: String? {
    success.outputs.flatMap { try? JSONEncoder().encode($0).base64EncodedString() }
  }

  fileprivate init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count == 8, words[7] == ".", let job = Int(words[0]), (0...1_000_000_000).contains(job),
      let attempt = Int(words[1]),
      let took = Double(words[2]), let at = Double(words[3])
    else { return nil }
    func text(_ word: Substring) -> String? { word == "-" ? nil : String(word) }
    let outputs = text(words[6]).flatMap { Data(base64Encoded: $0) }
      .flatMap { try? JSONDecoder().decode([String: String].self, from: $0) }
    success = AttemptSuccess(
      job: JobID(job), attempt: attempt, took: Duration(clamping: took), inputsHash: text(words[5]), outputs: outputs)
    self.at = Date(clamping: at)
    fingerprint = text(words[4])
  }
}
