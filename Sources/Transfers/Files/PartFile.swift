import CCurl
import Foundation

/// The `.part` file of a download, open and locked against any other transfer, in this process or another.
///
/// The file `.part.meta` holds the `PartInfo` that a later transfer needs to resume the part; also after a crash it exists only
/// while the bytes of the part belong to it. Nothing is synced to disk: after a power failure only a digest finds wrong bytes.
final class PartFile {
  let path: String
  private let target: String
  private var descriptor: Int32
  /// The position of the next byte.
  private(set) var offset: Int64 = 0
  private(set) var info: PartInfo?

  private var infoPath: String { path + ".meta" }

  /// Creates missing folders, then opens or creates the part.
  init(for target: URL) throws(TransferError) {
    guard target.isFileURL else { throw TransferError(.file, "not a file URL: \(target)") }
    self.target = target.path(percentEncoded: false)
    path = self.target + ".part"
    guard !target.hasDirectoryPath, !Self.isFolder(self.target) else {
      throw TransferError.file(self.target, error: EISDIR)
    }
    let folder = target.deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw Self.folderError(folder.path(percentEncoded: false))
    }
    descriptor = try Self.open(path)
    info = Self.length(descriptor) > 0 ? Self.readInfo(path + ".meta") : nil
  }

  deinit { close() }

  var size: Int64 { Self.length(descriptor) }

  /// Removes all bytes.
  func startAgain() throws(TransferError) {
    info = nil
    // Before the truncation: a part without info is never resumed.
    unlink(infoPath)
    // An empty part is not truncated: ext4 flushes a truncated file to disk when it is closed.
    guard size == 0 || ftruncate(descriptor, 0) == 0 else { throw .file(path) }
    offset = 0
  }

  func seek(to offset: Int64) { self.offset = offset }

  /// Saves the info of the bytes that will be written; call it before the first of them.
  func save(_ info: PartInfo) throws(TransferError) {
    self.info = info
    do {
      let data = try JSONEncoder().encode(info)
      // The URL may hold a secret.
      let file = Foundation.open(infoPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw TransferError.file(infoPath) }
      defer { Foundation.close(file) }
      let count = data.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
      guard count == data.count else { throw TransferError.file(infoPath, error: count < 0 ? errno : ENOSPC) }
    } catch let error as TransferError {
      throw error
    } catch {
      throw TransferError(.file, "\(infoPath): \(error)")
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .file(path, error: count < 0 ? errno : ENOSPC) }
      offset += Int64(count)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Renames the part to its final name, replacing an existing file.
  func commit() throws(TransferError) {
    guard rename(path, target) == 0 else { throw .file(target) }
    unlink(infoPath)
    close()
  }

  /// Closes and unlocks the part; an empty one is removed in any case.
  func close(keeping isKept: Bool) {
    if !isKept || size == 0 {
      unlink(infoPath)
      unlink(path)
    }
    close()
  }

  private func close() {
    guard descriptor >= 0 else { return }
    // A child process has a copy of the descriptor until its program begins, which would keep the lock.
    flock(descriptor, LOCK_UN)
    Foundation.close(descriptor)
    descriptor = -1
  }

  /// Opens and locks the file that has this name, again if the holder of the lock has removed or renamed it meanwhile.
  private static func open(_ path: String) throws(TransferError) -> Int32 {
    while true {
      let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { throw .file(path) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        Foundation.close(descriptor)
        throw TransferError(.file, "another transfer is writing \(path)")
      }
      var opened = stat()
      var named = stat()
      guard fstat(descriptor, &opened) == 0, opened.st_mode & S_IFMT == S_IFREG else {
        Foundation.close(descriptor)
        throw TransferError(.file, "not a regular file: \(path)")
      }
      if stat(path, &named) == 0, named.st_ino == opened.st_ino, named.st_dev == opened.st_dev { return descriptor }
      Foundation.close(descriptor)
    }
  }

  private static func readInfo(_ path: String) -> PartInfo? {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    return try? JSONDecoder().decode(PartInfo.self, from: data)
  }

  private static func length(_ descriptor: Int32) -> Int64 {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// The error of the folder at fault, which `FileManager` does not name.
  private static func folderError(_ path: String) -> TransferError {
    var folder = path
    var status = stat()
    while folder.count > 1, stat(folder, &status) != 0, errno == ENOENT || errno == ENOTDIR {
      folder = (folder as NSString).deletingLastPathComponent
    }
    if status.st_mode & S_IFMT != S_IFDIR { return .file(folder, error: ENOTDIR) }
    return .file(path, error: access(folder, W_OK) == 0 ? EIO : errno)
  }
}

/// The facts about a part that are needed to resume it.
struct PartInfo: Codable, Equatable {
  /// The requested URL, before any redirect.
  var url: String
  /// For `If-Range`: a strong entity tag, or the date of the last change.
  var validator: String
  var total: Int64?

  /// Nil where the reply has nothing that distinguishes a changed file from the same one.
  init?(url: String, reply: Reply) {
    guard let validator = Self.validator(of: reply) else { return nil }
    self.url = url
    self.validator = validator
    total = reply.contentLength
  }

  /// Whether nothing in the reply says that the file has changed.
  func agrees(with reply: Reply) -> Bool {
    let current = validator.hasPrefix("\"") ? reply["etag"] : reply["last-modified"]
    return current == nil || current == validator
  }

  private static func validator(of reply: Reply) -> String? {
    if let tag = reply["etag"], tag.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") { return tag }
    // A date has seconds only: a file that changed in the second of the reply may change again under the same date.
    guard let changed = reply["last-modified"], let sent = reply["date"] else { return nil }
    let changedAt = curl_getdate(changed, nil)
    return changedAt >= 0 && changedAt < curl_getdate(sent, nil) ? changed : nil
  }
}
