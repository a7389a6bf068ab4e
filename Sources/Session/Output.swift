import Basics
import CTerminal
import Foundation
import Screen

/// A file descriptor that is written to completely, until a write fails.
package final class Output: Sendable {
  /// The name in messages.
  package let name: String
  private let descriptor: Int32
  /// Whether this output has made its file.
  private let isNew: Bool
  private let state: Lock<State>

  private struct State {
    var written = 0
    var isLost = false
    var failure: Int32?
    var isShortened = false
    /// The writes that have not returned.
    var writes = 0
    var whenLost: (@Sendable (Int32) -> Void)?
    var beforeWriting: (@Sendable () -> Void)?
  }

  /// The largest number of bytes that are written at once: a reader that takes this many in a second is not taken for gone.
  private static let pieceSize = 4096

  package init(_ descriptor: Int32, name: String? = nil, isNew: Bool = false) {
    self.descriptor = descriptor
    self.isNew = isNew
    self.name = name ?? (descriptor == STDERR_FILENO ? "standard error" : "standard output")
    state = Lock(State())
  }

  package static let standardOutput = Output(1)
  package static let standardError = Output(2)

  /// Creates a file, which only its owner can read, or empties one and leaves its mode alone.
  package static func file(_ path: String) throws(UsageError) -> Output {
    let output = try files([("", path)])[0]
    output.empty()
    return output
  }

  /// Opens the files that options name, and leaves their contents alone until `empty` or `replace(with:)`.
  ///
  /// Throws where one can't be written, is read by the same command or is named twice; then none has been made.
  package static func files(
    _ wanted: [(option: String, path: String)], besides read: FilesRead = FilesRead()
  ) throws(UsageError) -> [Output] {
    // Before one is made.
    for (option, path) in wanted { try read.refuse(FileIdentity(path: path), "\(option) \(path)") }
    let areNew = wanted.map { access($0.path, F_OK) != 0 }
    var opened: [Int32] = []
    do throws(UsageError) {
      var options: [FileIdentity: String] = [:]
      for (option, path) in wanted {
        opened.append(try open(path))
        guard let identity = FileIdentity(descriptor: opened[opened.count - 1]) else { continue }
        try read.refuse(identity, "\(option) \(path)")
        guard let other = options.updateValue(option, forKey: identity) else { continue }
        throw UsageError("\(other) and \(option) name one file, \(path): give each its own")
      }
    } catch {
      for (descriptor, index) in zip(opened, wanted.indices) {
        if areNew[index] { remove(wanted[index].path) }
        close(descriptor)
      }
      throw error
    }
    return wanted.indices.map { Output(opened[$0], name: wanted[$0].path, isNew: areNew[$0]) }
  }

  /// Empties the file, unless the caller has passed it: other programs write to it too.
  package func empty() {
    if !ForeignFile.isPassed(name) { _ = ftruncate(descriptor, 0) }
  }

  /// Removes a file that was made, not the link that leads to it.
  private static func remove(_ path: String) {
    guard let made = realpath(path, nil) else { return }
    unlink(made)
    free(made)
  }

  private static func open(_ path: String) throws(UsageError) -> Int32 {
    do throws(FileProblem) { return try ForeignFile.open(path, for: .output, .argument) } catch {
      let reason =
        error.reason == .isPipe ? "it is a named pipe without a reader: start its reader first" : error.message
      throw UsageError("can't write \(path): \(reason)")
    }
  }

  /// The file that is written; nil for anything else.
  package var identity: FileIdentity? { FileIdentity(descriptor: descriptor) }

  /// Throws if it is a file that the command reads.
  package func check(_ read: FilesRead) throws(UsageError) { try read.refuse(identity, name) }

  /// Has `body` called once, with errno, when a write fails; later writes are dropped.
  package func whenLost(_ body: @escaping @Sendable (Int32) -> Void) { state.withLock { $0.whenLost = body } }

  /// Has `body` called before each write, on its thread.
  func beforeWriting(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.beforeWriting = body } }

  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The errno of the write that has failed.
  package var failure: Int32? { state.withLock(\.failure) }

  /// The message about the write that has failed.
  package var loss: String? { failure.map { "can't write \(name): \(String(cString: strerror($0)))" } }

  /// The number of bytes that the descriptor has taken.
  package var written: Int { state.withLock(\.written) }

  /// Whether a write waits for its reader; never one to a file, however slow the machine is.
  package var isBlocked: Bool {
    guard state.withLock({ $0.writes > 0 }) else { return false }
    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&request, 1, 0) == 0
  }

  /// Whether a long output is dropped because it has no reader.
  package var isDropping: Bool { state.withLock { $0.isLost || $0.isShortened } }

  /// The width of the terminal; 80 for anything else.
  package var columns: Int {
    var (columns, rows): (Int32, Int32) = (0, 0)
    terminal_get_size(descriptor, &columns, &rows)
    return Int(columns)
  }

  /// Discards the unread output of a terminal, if it is full; returns whether it was.
  ///
  /// `isForGood` drops later writes too: a long output would take seconds, a terminal's buffer at a time.
  package func discard(isForGood: Bool) -> Bool {
    guard terminal_discard(descriptor) else { return false }
    if isForGood { state.withLock { $0.isLost = true } }
    return true
  }

  /// From now on drops all but the last lines of a long output, the one that is being written included.
  package func shorten() { state.withLock { $0.isShortened = true } }

  /// Returns when all bytes are written or a write has failed; blocks while the reader is slow.
  ///
  /// For formats that escape their contents, and for the output of a command as it is; text is a `TerminalText`.
  package func write(_ bytes: [UInt8]) {
    let beforeWriting = state.withLock { state in
      state.writes += 1
      return state.beforeWriting
    }
    beforeWriting?()
    defer { state.withLock { $0.writes -= 1 } }
    let failure = bytes.withUnsafeBytes { bytes -> Int32 in
      var rest = bytes[...]
      while !rest.isEmpty {
        let (isLost, isShortened) = state.withLock { ($0.isLost, $0.isShortened) }
        guard !isLost else { return 0 }
        if isShortened { rest = Self.end(of: rest) }
        let piece = Self.piece(of: rest)
        let failure = terminal_write(descriptor, UnsafeRawBufferPointer(rebasing: piece).baseAddress, piece.count, -1)
        if failure != 0 { return failure }
        state.withLock { $0.written += piece.count }
        rest = rest[piece.endIndex...]
      }
      return 0
    }
    if failure != 0 { lose(failure) }
  }

  private func lose(_ failure: Int32) {
    let whenLost = state.withLock { state in
      (state.isLost, state.failure) = (true, failure)
      return state.whenLost.take()
    }
    whenLost?(failure)
  }

  /// The bytes to write at once, whole lines if possible: the other output may be the same terminal.
  private static func piece(of bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    guard bytes.count > pieceSize else { return bytes }
    let piece = bytes.prefix(pieceSize)
    return piece.lastIndex(of: 0x0A).map { piece[...$0] } ?? piece
  }

  /// The last lines, in as many bytes as are written at once.
  private static func end(of bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    guard bytes.count > pieceSize else { return bytes }
    let end = bytes.suffix(pieceSize)
    return end.firstIndex(of: 0x0A).map { end[($0 + 1)...] } ?? end
  }

  package func write(_ text: TerminalText) { write(text.bytes) }

  package func write(line: TerminalText) { write((line + "\n").bytes) }

  // MARK: Whole documents

  /// Replaces the contents of the file; a failure leaves them, or removes a file that this output has made.
  ///
  /// A device, a pipe and a descriptor that the caller has passed are written to as they are.
  package func replace(with bytes: [UInt8]) {
    guard !ForeignFile.isPassed(name), identity != nil else { return write(bytes) }
    let failure = putInPlace(bytes)
    // The folder takes no other file, or the file is a mount.
    if [EACCES, EPERM, EROFS, EBUSY].contains(failure) {
      _ = ftruncate(descriptor, 0)
      return write(bytes)
    }
    guard failure != 0 else { return }
    if isNew { Self.remove(name) }
    lose(failure)
  }

  /// Writes a file beside this one, and renames it; returns errno.
  private func putInPlace(_ bytes: [UInt8]) -> Int32 {
    // Not in the place of a link.
    guard let resolved = realpath(name, nil) else { return errno }
    defer { free(resolved) }
    let target = UnsafeBufferPointer(start: resolved, count: strlen(resolved)).map { UInt8(bitPattern: $0) }
    let own = BytePath(".opdash-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))")
    let path = BytePath(target).folder.appending(own).cString
    let beside = Foundation.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard beside >= 0 else { return errno }
    var status = stat()
    // The file keeps its mode, except where it would be for another group.
    if fstat(descriptor, &status) == 0, fchown(beside, status.st_uid, status.st_gid) == 0 {
      _ = fchmod(beside, status.st_mode & 0o7777)
    }
    let output = Output(beside, name: name)
    output.write(bytes)
    var failure = output.failure ?? 0
    // Some file systems say only now that a disk is full.
    if close(beside) != 0, failure == 0 { failure = errno }
    if failure == 0, rename(path, resolved) != 0 { failure = errno }
    if failure != 0 { unlink(path) }
    return failure
  }
}
