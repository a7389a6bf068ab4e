import Foundation
import Operations

/// The body of an upload, read from its file or memory as the connection takes it.
final class UploadFile {
  let size: Int64
  private let path: String
  private let descriptor: Int32
  private let changed: timespec
  /// The content in memory, or of a file whose size is given as 0, such as a file in /proc; empty for other files.
  private let content: [UInt8]
  private static let contentLimit = 64 << 20
  private(set) var offset: Int64 = 0
  /// While set, `read` returns nil; the exchange must be resumed after it is cleared.
  var isPaused = false

  init(_ file: URL) throws(TransferError) {
    guard file.isFileURL else { throw TransferError(.file, "not a file URL: \(file.absoluteString.maskedURL)") }
    path = file.path(percentEncoded: false)
    do throws(FileProblem) { descriptor = try ForeignFile.open(path, .named) } catch { throw .file(error) }
    guard let status = FileStatus(descriptor)?.value else {
      close(descriptor)
      throw .file(path)
    }
    changed = status.st_mtim
    do throws(TransferError) {
      content = status.st_size == 0 ? try Self.content(descriptor, path) : []
    } catch {
      close(descriptor)
      throw error
    }
    size = content.isEmpty ? Int64(status.st_size) : Int64(content.count)
  }

  /// A body in memory.
  init(content: [UInt8]) {
    (path, descriptor, changed) = ("", -1, timespec())
    self.content = content
    size = Int64(content.count)
  }

  private static func content(_ descriptor: Int32, _ path: String) throws(TransferError) -> [UInt8] {
    let content: [UInt8]
    do throws(FileProblem) { content = try ForeignFile.prefix(of: descriptor, path, contentLimit + 1) } catch {
      throw .file(error)
    }
    guard content.count <= contentLimit else {
      throw TransferError(.file, "\(path) has a size of 0 and more than 64 MiB of content: upload a copy of it")
    }
    return content
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func rewind(to offset: Int64) { self.offset = offset }

  /// Returns how many bytes were read, 0 at the end; nil while paused.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransferError) -> Int? {
    if isPaused { return nil }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    guard wanted > 0 else { return 0 }
    guard content.isEmpty else {
      buffer.copyBytes(from: content[Int(offset)..<Int(offset) + wanted])
      offset += Int64(wanted)
      return wanted
    }
    let count = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
    guard count > 0 else {
      throw count < 0 ? .file(path) : TransferError(.file, "\(path) shrank while it was sent")
    }
    offset += Int64(count)
    return count
  }

  /// Throws if the file has changed since it was opened: the server may then have a mix of old and new content.
  func checkUnchanged() throws(TransferError) {
    guard content.isEmpty, descriptor >= 0 else { return }
    guard let status = FileStatus(descriptor)?.value else { throw .file(path) }
    let now = status.st_mtim
    guard Int64(status.st_size) == size, now.tv_sec == changed.tv_sec, now.tv_nsec == changed.tv_nsec else {
      throw TransferError(.file, "\(path) changed while it was sent")
    }
  }
}
