import Foundation

/// The body of an upload, read from its file as the connection takes it.
final class UploadFile {
  enum Reading {
    case bytes(Int)
    case paused
    case failed
  }

  let size: Int64
  private let path: String
  private let descriptor: Int32
  private let changed: timespec
  private let onRead: (Int64) -> Void
  private(set) var offset: Int64 = 0
  private(set) var failure: TransferError?
  /// While set, nothing more is given out; the exchange must be unpaused afterwards.
  var isPaused = false

  /// Opens the file; `onRead` is told the offset after each read.
  init(_ file: URL, onRead: @escaping (Int64) -> Void) throws(TransferError) {
    guard file.isFileURL else { throw TransferError(.file, "not a file URL: \(file)") }
    path = file.path(percentEncoded: false)
    // Without O_NONBLOCK a named pipe would hold up the thread of all transfers.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .file(path) }
    guard let status = Self.status(descriptor), status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw TransferError(.file, "not a regular file: \(path)")
    }
    self.descriptor = descriptor
    self.onRead = onRead
    size = Int64(status.st_size)
    changed = Self.changeTime(status)
  }

  deinit { close(descriptor) }

  func rewind(to offset: Int64) { self.offset = offset }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
    if isPaused { return .paused }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    guard wanted > 0 else { return .bytes(0) }
    let count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
    guard count > 0 else {
      failure = count < 0 ? .file(path) : TransferError(.file, "\(path) shrank while it was sent")
      return .failed
    }
    offset += Int64(count)
    onRead(offset)
    return .bytes(count)
  }

  /// Whether what was sent may be a mix of an old and a new content.
  func checkUnchanged() throws(TransferError) {
    guard let status = Self.status(descriptor) else { throw .file(path) }
    let now = Self.changeTime(status)
    guard Int64(status.st_size) == size, now.tv_sec == changed.tv_sec, now.tv_nsec == changed.tv_nsec else {
      throw TransferError(.file, "\(path) changed while it was sent")
    }
  }

  private static func status(_ descriptor: Int32) -> stat? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status : nil
  }

  private static func changeTime(_ status: stat) -> timespec {
    #if canImport(Darwin)
    status.st_mtimespec
    #else
    status.st_mtim
    #endif
  }
}
