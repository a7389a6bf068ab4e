import Basics
import Checksums
import Foundation
import JobModel

/// The files that a job's `inputs` name at one moment.
package struct InputFiles {
  /// Absolute paths in order, each once; a folder stands for all files below it.
  let paths: [BytePath]
  /// The first path without a wildcard that does not exist.
  let missing: BytePath?

  /// Finds the files; the products in `creates`, and files below them, are left out, and where no path names them, the
  /// files that this program writes.
  ///
  /// `*`, `?` and `[…]` match within a name, `**` any number of folders; none of them matches a leading dot, and `**`
  /// follows no symbolic link. A pattern without a match is treated as a path if that path exists, and otherwise names
  /// no file.
  init(
    _ inputs: [BytePath], without creates: [BytePath], hashes: FileHashes = FileHashes(),
    isCancelled: @escaping () -> Bool
  ) throws {
    var search = FileSearch(without: creates, isIgnored: hashes.isOwn, isCancelled: isCancelled)
    var missing: BytePath?
    for input in inputs {
      if !(try search.find(input)), missing == nil { missing = input }
    }
    paths = search.found.sorted()
    self.missing = missing
  }

  /// The files that an attempt of the job sends or takes as inputs, as they are now; for a wildcard it reads folders.
  package static func read(by job: Job) -> [BytePath] {
    if case .upload(let work) = job.work { return [BytePath(work.file)] }
    let (inputs, products) = (job.inputs.map { BytePath($0) }, job.creates.map { BytePath($0) })
    return (try? InputFiles(inputs, without: products, isCancelled: { false }))?.paths ?? []
  }

  /// The newest file; nil if there is none.
  func newest() -> (path: BytePath, time: Duration)? { Self.times(paths, \.modified).max { $0.time < $1.time } }

  /// The file that has changed last, if that may have been after `date`; by the time that no program can set.
  func changed(since date: Date) -> BytePath? {
    let newest = Self.times(paths, \.changed).max { $0.time < $1.time }
    // The clock of files steps by some milliseconds.
    return newest.flatMap { $0.time + .milliseconds(10) >= .seconds(date.timeIntervalSince1970) ? $0.path : nil }
  }

  /// The times of the files that exist, through symbolic links, as in make.
  static func times(
    _ paths: [BytePath], _ time: (FileStatus) -> Duration
  ) -> [(path: BytePath, time: Duration)] {
    paths.compactMap { path in FileStatus(path, followsLink: true).map { (path, time($0)) } }
  }

  /// The SHA-256 of the names and contents; throws `InputError`, or `CancellationError` once cancelled.
  func hash(by hashes: FileHashes, isCancelled: () -> Bool) throws -> String {
    let sum = SHA256Sum()
    for path in paths {
      let content = try hashes.hash(of: path, isCancelled: isCancelled)
      // A path contains no NUL and a hash always has the same length, so no other files result in the same bytes.
      (path.bytes + [0] + content.utf8).withUnsafeBytes { sum.update($0) }
    }
    return sum.hex
  }
}

extension FileStatus {
  /// When the content was changed, since 1970.
  var modified: Duration { Duration(value.st_mtim) }

  /// When the content, the name or the permissions were changed, since 1970; no program can set it.
  var changed: Duration { Duration(value.st_ctim) }
}
