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
  /// The paths of each watched folder, which links may lead to.
  private var folders: [Int32: Set<BytePath>] = [:]

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

  /// Watches these folders as they are now, and no others; whether one is new.
  ///
  /// A folder in `names` reports only names that come and go. A folder that does not exist is left out.
  func watch(_ contents: Set<BytePath>, names: Set<BytePath>) throws(WatchFault) -> Bool {
    var now: [Int32: Set<BytePath>] = [:]
    for folder in contents.union(names) {
      let path = folder.bytes.isEmpty ? BytePath("/") : folder
      // The kernel has one watch for each folder, however often and by whatever path it is asked for.
      let watch = inotify_add_watch(
        descriptor, path.cString, contents.contains(folder) ? Self.mask | Self.contents : Self.mask)
      let problem = errno
      if watch >= 0 {
        now[watch, default: []].insert(folder)
      } else if ![ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG].contains(problem) {
        throw WatchFault(problem, limit: "max_user_watches")
      }
    }
    let isNew = now.contains { !$1.isSubset(of: folders[$0] ?? []) }
    for watch in folders.keys where now[watch] == nil { inotify_rm_watch(descriptor, watch) }
    folders = now
    return isNew
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
          events += self.events(event, BytePath(name.prefix { $0 != 0 }))
          start += Self.headSize + Int(event.len)
        }
      }
    }
    return events
  }

  private func events(_ event: inotify_event, _ name: BytePath) -> [Event] {
    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return [.lost] }
    let paths = folders[event.wd] ?? []
    if event.mask & UInt32(IN_IGNORED) != 0 { folders[event.wd] = nil }
    guard name.bytes.isEmpty else {
      return paths.map { .changed($0.appending(name), isFolder: event.mask & UInt32(IN_ISDIR) != 0) }
    }
    let isGone = event.mask & UInt32(IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF) != 0
    return isGone ? paths.map { .changed($0, isFolder: true) } : []
  }

  private static let headSize = MemoryLayout<inotify_event>.size
  private static let mask = UInt32(
    IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR
      | IN_EXCL_UNLINK | IN_MASK_ADD)
  private static let contents = UInt32(IN_CLOSE_WRITE | IN_MODIFY)
}

/// The names that decide where paths lead, from the root and through symbolic links.
struct PathTrail {
  private(set) var names = Set<BytePath>()
  /// The folders whose files are inputs, or that a link leads into.
  private(set) var folders = Set<BytePath>()
  /// As many links as the system follows.
  private static let linkLimit = 40

  mutating func add(folder: BytePath) {
    folders.insert(folder)
    add(folder)
  }

  mutating func add(_ path: BytePath, links: Int = 0) {
    guard names.insert(path).inserted, !path.bytes.isEmpty else { return }
    add(path.folder, links: links)
    guard links < Self.linkLimit, let target = path.linkTarget else { return }
    let end = target.bytes.first == UInt8(ascii: "/") ? target : path.folder.appending(target)
    folders.insert(end.folder)
    add(end, links: links + 1)
  }
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
