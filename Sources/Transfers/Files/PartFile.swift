import Checksums
import Foundation
import Operations

/// The part of a download, open and locked against any other transfer, in this process or another.
///
/// Its name is the file's name with the suffix `.part`. `FILE.part.meta` holds the `PartInfo` that a later transfer
/// needs to resume the part; even after a crash, it exists only while the bytes of the part belong to it. Nothing is
/// synced to disk: after a power failure only a digest detects wrong bytes.
///
/// The part is a regular file with one name and, in a folder such as `/tmp`, not another user's. Any other file at its
/// path is refused, and a link is not followed.
final class PartFile {
  let path: String
  private let folder: String
  private var descriptor: Int32
  /// The position of the next byte, after those in `gathered`.
  private(set) var offset: Int64 = 0
  private(set) var info: PartInfo?
  private var isInfoWritten = false
  /// The modification time, in seconds, that the finished file gets; nil for the time of its last byte.
  var modified: time_t?
  /// The URL, without a user name and a password, that the finished file is marked with.
  var url: String?
  /// Bytes before `offset` that are not in the file yet: a small file is written at once, and needs no info file.
  private var gathered: [UInt8] = []

  private var infoPath: String { path + Self.infoSuffix }

  private static let suffix = ".part"
  private static let infoSuffix = ".meta"
  /// libcurl's pieces have 16 KiB, and each write costs the file system as much as copying several of them.
  private static let gatherLimit = 128 << 10

  /// The files that this process has finished and whose own names end as a part's or its info's.
  private static let finished = Lock<Set<BytePath>>([])

  /// The part of a file; a name that has no room for the endings is cut, and gets a digest of the whole of it.
  ///
  /// A part with a number is named after the one without: a part of the file's number may be another download's.
  static func path(for target: String, number: Int = 0) -> String {
    if number > 0 { return path(for: FileName.numbered(path(for: target), number)) }
    let (folder, name) = FileName.parts(of: target)
    let count = name.utf8.count + suffix.utf8.count + infoSuffix.utf8.count
    guard count > FileName.systemLimit else { return target + suffix }
    let digest = SHA256Sum.hex(of: Array(name.utf8)).prefix(16)
    return "\(folder)\(FileName.prefix(of: name, FileName.limit)).\(digest)\(suffix)"
  }

  /// Creates missing folders, then opens or creates the part.
  init(for target: String, number: Int = 0) throws(TransferError) {
    path = Self.path(for: target, number: number)
    let parts = FileName.parts(of: target)
    guard !parts.name.isEmpty else { throw .file(target, error: EISDIR) }
    guard parts.name.utf8.count <= FileName.systemLimit else { throw .file(target, error: ENAMETOOLONG) }
    let mode = try Self.mode(ofTarget: target)
    try Self.checkIsNoPart(target)
    folder = parts.folder.isEmpty ? "./" : parts.folder
    try CreatedFolders.make(folder)
    do throws(TransferError) { descriptor = try Self.open(path) } catch {
      CreatedFolders.removeEmpty(folder)
      throw error
    }
    do throws(TransferError) {
      try Self.checkIsUnfinished(path, for: target)
      info = size > 0 ? PartInfo(readFrom: infoPath) : nil
      isInfoWritten = info != nil
      // A private file stays private while it is replaced; bytes without info are another program's.
      if let mode, size == 0 || info != nil { try setMode(mode | S_IRUSR | S_IWUSR) }
    } catch {
      if size == 0 { unlink(path) }
      close()
      CreatedFolders.removeEmpty(folder)
      throw error
    }
  }

  deinit { close() }

  /// The size of the file, without the gathered bytes.
  var size: Int64 { FileStatus(descriptor).map { Int64($0.value.st_size) } ?? 0 }

  /// Removes all bytes.
  func startAgain() throws(TransferError) {
    info = nil
    isInfoWritten = false
    gathered = []
    // Before the truncation: a part without info is never resumed.
    unlink(infoPath)
    // An empty part is not truncated: ext4 flushes a truncated file to disk when it is closed.
    guard size == 0 || ftruncate(descriptor, 0) == 0 else { throw .file(path) }
    offset = 0
  }

  /// Starts to compute the digest of the bytes in the file, whatever has the part's name meanwhile; call `flush()` before.
  func startDigest(
    then answer: @escaping @Sendable (FileDigest, Result<String, TransferError>) -> Void
  ) -> FileDigest {
    FileDigest.start(descriptor, of: path, then: answer)
  }

  /// Sets the position of the next byte; call it before the first `write`.
  func seek(to offset: Int64) { self.offset = offset }

  /// Sets the info of the bytes that will be written; call it after `startAgain` and before the first of them.
  func setInfo(_ info: PartInfo) { self.info = info }

  /// Records whether the last request for the rest of the part has brought no bytes.
  func markRefused(_ wasRefused: Bool) throws(TransferError) {
    guard var info else { return }
    info.wasRefused = wasRefused ? true : nil
    unlink(infoPath)
    self.info = info
    isInfoWritten = false
    try writeInfo()
  }

  private func writeInfo() throws(TransferError) {
    guard let info, !isInfoWritten else { return }
    try info.write(to: infoPath)
    isInfoWritten = true
  }

  /// Adds bytes, which are in the file after the next `flush()` at the latest.
  func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
    gathered += bytes
    offset += Int64(bytes.count)
    if gathered.count >= Self.gatherLimit { try flush() }
  }

  /// Writes the gathered bytes to the file, after the info without which a later transfer can't resume them.
  func flush() throws(TransferError) {
    guard !gathered.isEmpty else { return }
    try writeInfo()
    try writeGathered()
  }

  private func writeGathered() throws(TransferError) {
    let start = offset - Int64(gathered.count)
    var done = 0
    while done < gathered.count {
      let count = gathered[done...].withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress, $0.count, off_t(start) + done)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .file(path, error: count < 0 ? errno : ENOSPC) }
      done += count
    }
    gathered.removeAll(keepingCapacity: true)
  }

  /// Writes the rest of the bytes, which need no info any more, and sets the time and the mark where the file system has them.
  private func complete() throws(TransferError) {
    try writeGathered()
    if let modified {
      let times = [timespec(tv_sec: time(nil), tv_nsec: 0), timespec(tv_sec: modified, tv_nsec: 0)]
      futimens(descriptor, times)
    }
    if let url { DownloadMark.set(url, on: descriptor) }
  }

  /// Renames the part to `target`, replacing an existing file, whose permissions it gets.
  func commit(replacing target: String) throws(TransferError) {
    // All of this may have changed since the part was opened.
    let mode = try Self.mode(ofTarget: target)
    try checkCanBecome(target)
    // The mark is refused by a file that its owner may not write.
    try complete()
    if let mode { try setMode(mode) }
    guard Foundation.rename(path, target) == 0 else { throw .file(target) }
    end(as: target)
  }

  /// Renames the part to `target` or, where there is such a file, to the first number that is free; returns the path.
  func commit(numbering target: String) throws(TransferError) -> String {
    try complete()
    for number in 0... {
      let name = FileName.numbered(target, number)
      guard !uses(name), FileStatus(name) == nil else { continue }
      try checkCanBecome(name)
      guard try rename(toFree: name) else { continue }
      end(as: name)
      return name
    }
    throw .file(target, error: EEXIST)
  }

  func uses(_ name: String) -> Bool { [path, infoPath].contains { BytePath($0) == BytePath(name) } }

  /// Renames the part unless there is a file of that name.
  private func rename(toFree name: String) throws(TransferError) -> Bool {
    guard link(path, name) == 0 else {
      if errno == EEXIST { return false }
      return try rename(toPlaceholder: name)
    }
    unlink(path)
    return true
  }

  /// Renames the part where the file system has no links, unless there is a file of that name.
  ///
  /// Elsewhere it costs more: ext4 writes a file to disk before it takes another's name.
  func rename(toPlaceholder name: String) throws(TransferError) -> Bool {
    // Only one program creates this placeholder, so the rename replaces no other program's file.
    let placeholder = Foundation.open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard placeholder >= 0 else {
      if errno == EEXIST { return false }
      throw .file(name)
    }
    Foundation.close(placeholder)
    guard Foundation.rename(path, name) == 0 else {
      let error = TransferError.file(name)
      unlink(name)
      throw error
    }
    return true
  }

  private func checkCanBecome(_ target: String) throws(TransferError) {
    try Self.checkIsNoPart(target)
    guard hasItsName else {
      throw TransferError(.file, "another program has replaced \(path): start the download again")
    }
  }

  private func end(as target: String) {
    unlink(infoPath)
    if target.hasSuffix(Self.suffix) || target.hasSuffix(Self.suffix + Self.infoSuffix) {
      Self.finished.withLock { _ = $0.insert(BytePath(target)) }
    }
    close()
  }

  /// Closes and unlocks the part; an empty one is removed in any case, and so is one that has lost its info.
  func close(keeping isKept: Bool) {
    // On a full disk the bytes are lost, and a later transfer requests them again.
    if isKept, (try? flush()) != nil, size > 0 { try? writeInfo() }
    let isLost = info != nil && !isInfoWritten
    if !isKept || size == 0 || isLost, hasItsName {
      unlink(infoPath)
      unlink(path)
    }
    close()
    CreatedFolders.removeEmpty(folder)
  }

  /// Whether the names of the target's part are in use by another transfer or by a finished file.
  static func isInUse(for target: String) -> Bool {
    do throws(TransferError) {
      let part = path(for: target)
      try checkIsNoPart(part)
      try checkIsUnfinished(part, for: target)
      return false
    } catch {
      return true
    }
  }

  private func close() {
    guard descriptor >= 0 else { return }
    // A child process has a copy of the descriptor until its program begins, which would keep the lock.
    flock(descriptor, LOCK_UN)
    Foundation.close(descriptor)
    descriptor = -1
  }

  /// Whether the file of this name is still the one that was opened.
  private var hasItsName: Bool { FileStatus(path)?.identity == FileStatus(descriptor)?.identity }

  private func setMode(_ mode: mode_t) throws(TransferError) {
    // File systems without permissions refuse any change.
    guard FileStatus(descriptor)?.mode != mode else { return }
    guard fchmod(descriptor, mode) == 0 else { throw .file(path) }
  }

  /// Opens and locks the file that has this name, again if the holder of the lock has removed or renamed it meanwhile.
  private static func open(_ path: String) throws(TransferError) -> Int32 {
    while true {
      let descriptor: Int32
      do throws(FileProblem) {
        descriptor = try ForeignFile.open(path, for: .updating(mode: 0o666), .shared)
      } catch {
        try FileStatus(path)?.checkIsUsable(as: path)
        throw .file(error)
      }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let error = errno
        Foundation.close(descriptor)
        throw error == EWOULDBLOCK ? inUse(path) : .file(path, error: error)
      }
      if let opened = FileStatus(descriptor), let named = FileStatus(path), opened.identity == named.identity {
        do throws(TransferError) { try opened.checkIsUsable(as: path) } catch {
          Foundation.close(descriptor)
          throw error
        }
        return descriptor
      }
      Foundation.close(descriptor)
    }
  }

  private static func inUse(_ path: String) -> TransferError {
    TransferError(.file, "another transfer is writing \(path)")
  }

  /// The permissions of the file to be replaced, nil if there is none; a device or the like is not a file to be replaced.
  private static func mode(ofTarget path: String) throws(TransferError) -> mode_t? {
    guard let status = FileStatus(path, followsLink: true) else { return nil }
    guard status.kind != S_IFDIR else { throw .file(path, error: EISDIR) }
    guard status.kind == S_IFREG else {
      throw TransferError(.file, "\(path) is not a regular file, which a download could replace: give another name")
    }
    // Another user may have created the file only to make the new one writable for himself.
    return status.value.st_uid == geteuid() ? status.mode : status.mode & ~(S_IWGRP | S_IWOTH)
  }

  /// Throws if the target is the part of a transfer in progress, or the info of that part.
  private static func checkIsNoPart(_ target: String) throws(TransferError) {
    let part = target.hasSuffix(infoSuffix) ? String(target.dropLast(infoSuffix.count)) : target
    guard part.hasSuffix(suffix) else { return }
    guard let descriptor = try? ForeignFile.open(part, .shared) else { return }
    defer { Foundation.close(descriptor) }
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK else { throw inUse(part) }
    flock(descriptor, LOCK_UN)
  }

  /// Throws if the part or its info would overwrite a file that another transfer has finished.
  private static func checkIsUnfinished(_ part: String, for target: String) throws(TransferError) {
    for name in [part, part + infoSuffix] where finished.withLock({ $0.contains(BytePath(name)) }) {
      guard let status = FileStatus(name), status.value.st_size > 0 else { continue }
      throw TransferError(
        .file, "\(name) is a downloaded file, which the download of \(target) would overwrite: rename one of them")
    }
  }
}
