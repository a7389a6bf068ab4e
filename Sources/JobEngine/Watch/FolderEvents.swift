import Basics
import Dispatch
import Foundation

/// Tells which names in a set of folders have changed, by inotify; changes by other machines of a shared file system are
/// not seen.
final class FolderEvents {
  /// A change of one name, or of an unknown number of them.
  enum Event {
    case changed(BytePath, isFolder: Bool)
    /// The system has dropped events: anything may have changed.
    case lost
  }

  private let descriptor: Int32
  private let source: any DispatchSourceRead
  private var folders: [Int32: BytePath] = [:]
  private var watched: Set<BytePath> = []

  /// Calls `body` on `queue` when there are events to take.
  init(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) throws(WatchFault) {
    let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else { throw WatchFault(errno, limit: "max_user_instances") }
    self.descriptor = descriptor
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    source.setEventHandler(handler: body)
    source.setCancelHandler { close(descriptor) }
    source.activate()
  }

  deinit { source.cancel() }

  /// Watches a folder or, if it does not exist, the nearest one above; whether that is new.
  func add(_ folder: BytePath) throws(WatchFault) -> Bool {
    var folder = folder
    while !watched.contains(folder) {
      let path = folder.bytes.isEmpty ? BytePath("/") : folder
      let watch = inotify_add_watch(descriptor, path.cString, Self.mask)
      if watch >= 0 {
        folders[watch] = folder
        watched.insert(folder)
        return true
      }
      guard errno == ENOENT || errno == ENOTDIR || errno == EACCES, !folder.bytes.isEmpty else {
        throw WatchFault(errno, limit: "max_user_watches")
      }
      folder = folder.folder
    }
    return false
  }

  /// Takes the events that have come.
  func take() -> [Event] {
    var events: [Event] = []
    withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        var start = 0
        while start + Self.headSize <= count {
          let event = buffer.load(fromByteOffset: start, as: inotify_event.self)
          let name = buffer[(start + Self.headSize)..<min(count, start + Self.headSize + Int(event.len))]
          if let event = self.event(event, BytePath(name.prefix { $0 != 0 })) { events.append(event) }
          start += Self.headSize + Int(event.len)
        }
      }
    }
    return events
  }

  private func event(_ event: inotify_event, _ name: BytePath) -> Event? {
    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return .lost }
    guard let folder = folders[event.wd] else { return nil }
    let isGone = event.mask & UInt32(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF) != 0
    if isGone {
      // A folder that was moved away keeps its watch, with a path that is wrong.
      if event.mask & UInt32(IN_MOVE_SELF) != 0 { inotify_rm_watch(descriptor, event.wd) }
      if event.mask & UInt32(IN_IGNORED) != 0 { folders[event.wd] = nil }
      watched.remove(folder)
    }
    guard !name.bytes.isEmpty else { return isGone ? .changed(folder, isFolder: true) : nil }
    return .changed(folder.appending(name), isFolder: event.mask & UInt32(IN_ISDIR) != 0)
  }

  private static let headSize = MemoryLayout<inotify_event>.size
  private static let mask = UInt32(
    IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF
      | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)
}

/// Folders could not be watched.
struct WatchFault: Error, CustomStringConvertible {
  private let problem: Int32
  private let limit: String

  /// `limit` is the setting of inotify that may be too low.
  init(_ problem: Int32, limit: String) {
    self.problem = problem
    self.limit = limit
  }

  var description: String {
    let reason = "inputs are not watched: \(String(cString: strerror(problem)))"
    guard [EMFILE, ENOSPC].contains(problem) else { return reason }
    return "\(reason); raise fs.inotify.\(limit) by sysctl, or leave folders out with watch.ignore"
  }
}
