import Basics
import Checksums
import Foundation

/// The hashes of the files that a run's jobs read, each computed once while its file is unchanged.
final class FileHashes: Sendable {
  /// A version of a file, as precisely as the file system distinguishes versions.
  struct Version: Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let size: Int64
    private let modified: Duration
    let changed: Duration

    init(_ status: FileStatus) {
      device = UInt64(truncatingIfNeeded: status.value.st_dev)
      inode = UInt64(status.value.st_ino)
      size = Int64(status.value.st_size)
      modified = status.modified
      changed = status.changed
    }
  }

  /// A file that was changed a moment ago may be changed again without a new time.
  private static let settled = Duration.seconds(2)

  private let known = Lock<[Version: String]>([:])
  private let written: Set<FileIdentity>

  /// `written` are files that the run itself writes.
  init(written: Set<FileIdentity> = []) { self.written = written }

  /// Whether this program writes the file: it is one of the run's, or a part of a state folder.
  func isOwn(_ path: BytePath) -> Bool {
    let name = path.bytes[(path.bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)...]
    if name.starts(with: "opdash.db".utf8) || name.elementsEqual("opdash.live".utf8) { return true }
    // The folders of runs and of sockets.
    if name.elementsEqual("runs".utf8) || name.elementsEqual("live".utf8) {
      return access(path.folder.appending(BytePath("opdash.db")).cString, F_OK) == 0
    }
    return !written.isEmpty && FileIdentity(path: path.text).map(written.contains) ?? false
  }

  /// The SHA-256 of a regular file's content, of a symbolic link's target if the link leads to no file, or of nothing
  /// for a special file.
  func hash(of path: BytePath, isCancelled: () -> Bool) throws -> String {
    if isCancelled() { throw CancellationError() }
    guard let found = FileStatus(path, followsLink: true) else { return try hash(ofLink: path, because: errno) }
    if found.kind == S_IFDIR { return try hash(ofLink: path, because: EISDIR) }
    // A device may act on its opening, and a program may wait for a FIFO's.
    guard found.kind == S_IFREG else { return SHA256Sum.hex(of: []) }
    // The path may lead to a FIFO by now: opening one would block without O_NONBLOCK.
    let descriptor = open(path.cString, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw InputError(path: path, reason: Self.reason(errno)) }
    defer { close(descriptor) }
    guard let status = FileStatus(descriptor) else { throw InputError(path: path, reason: Self.reason(errno)) }
    let version = Version(status)
    if let hash = known.withLock({ $0[version] }) { return hash }
    let hash = try Self.read(descriptor, path, isCancelled)
    if version.changed + Self.settled < .now(on: CLOCK_REALTIME) { known.withLock { $0[version] = hash } }
    return hash
  }

  private func hash(ofLink path: BytePath, because problem: Int32) throws -> String {
    guard let target = path.linkTarget else { throw InputError(path: path, reason: Self.reason(problem)) }
    return SHA256Sum.hex(of: target.bytes)
  }

  private static func read(_ descriptor: Int32, _ path: BytePath, _ isCancelled: () -> Bool) throws -> String {
    do throws(POSIXError) {
      if let hash = try SHA256Sum.hex(ofFile: descriptor, isCancelled: isCancelled) { return hash }
    } catch {
      throw InputError(path: path, reason: reason(error.code.rawValue))
    }
    throw CancellationError()
  }

  private static func reason(_ problem: Int32) -> String { String(cString: strerror(problem)) }
}

/// An input file could not be read.
struct InputError: Error, CustomStringConvertible {
  let path: BytePath
  let reason: String

  var description: String { "cannot read \(path.text): \(reason)" }
}
