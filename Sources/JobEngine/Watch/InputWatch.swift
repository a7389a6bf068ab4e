import Basics
import Dispatch
import Foundation
import JobModel

/// Watches the files that jobs read, and reports the jobs whose files have changed.
///
/// The events of the file system only say when to look; a comparison with the last look finds the changes. So it does not
/// matter in how many steps an editor writes a file, and no change is lost with an event.
final class InputWatch: @unchecked Sendable {
  // Safe: only `queue` accesses the variables.

  /// A job with inputs.
  struct Job {
    let id: JobID
    let inputs: [BytePath]
    let creates: [BytePath]
    /// The folder that paths in messages are relative to.
    let directory: BytePath?
  }

  /// The newest change of a job's inputs.
  struct Change: Equatable {
    /// In words for a person.
    let path: String
    /// When the file changed, on the system's clock, since 1970.
    let time: Duration
    /// When its event came, on the clock of the watch; nil if only an event of a folder above did.
    let noticed: Duration?
    /// The hash of all inputs now, as an attempt states it; nil if one can't be read.
    let hash: String?
  }

  /// Jobs with the same inputs, and their files as of the last look.
  private struct Group {
    let jobs: [JobID]
    let inputs: [BytePath]
    let creates: [BytePath]
    let directory: BytePath?
    let patterns: [PathPattern]
    /// Nil before the first look.
    var files: [BytePath: Version]?
  }

  /// A file as of one look.
  private struct Version {
    let inode: UInt64
    let size: Int64
    let modified: FileTime
    /// Nil for a file that can't be read.
    var hash: String?

    init(_ status: stat) {
      (inode, size) = (UInt64(status.st_ino), Int64(status.st_size))
      modified = FileTime(status, .modification)
    }

    /// Whether nothing has written to the file since.
    func isSame(as other: Version) -> Bool {
      (inode, size, modified) == (other.inode, other.size, other.modified)
    }

    /// Whether the content has changed, which a touched file's has not.
    func differs(from other: Version) -> Bool {
      !isSame(as: other) && (hash == nil || hash != other.hash)
    }
  }

  /// Files that change without rest are looked at after this many times the debounce.
  private static let patience = 30

  private let queue = DispatchQueue(label: "opdash.watch", qos: .utility)
  private let clock: any OperationClock
  private let debounce: Duration
  private let hashes: FileHashes
  private let ignored: [PathPattern]
  private let ignoredNames: [NamePattern]
  private let report: @Sendable (Result<[JobID: Change], WatchFault>) -> Void
  private let isStopped = Lock(false)
  private let began = systemTime()
  private var groups: [Group]
  private var events: FolderEvents?
  /// When the newest event of each name since the last look came.
  private var arrivals: [BytePath: Duration] = [:]
  /// The wait for rest, and when the first change after the last look came.
  private var wait: (timer: any OperationTimer, since: Duration)?

  /// Starts to watch; `report` is called on the watch's queue with each set of changes, and with a fault that ends the
  /// watch.
  init(
    _ jobs: [Job], rules: WatchRules, hashes: FileHashes, clock: any OperationClock,
    _ report: @escaping @Sendable (Result<[JobID: Change], WatchFault>) -> Void
  ) {
    struct Key: Hashable {
      let inputs: [BytePath]
      let creates: [BytePath]
      let directory: BytePath?
    }
    groups = Dictionary(grouping: jobs) { Key(inputs: $0.inputs, creates: $0.creates, directory: $0.directory) }.map {
      Group(
        jobs: $1.map(\.id), inputs: $0.inputs, creates: $0.creates, directory: $0.directory,
        patterns: $0.inputs.map { PathPattern($0) })
    }
    debounce = rules.debounce
    self.hashes = hashes
    let patterns = rules.ignored.map { BytePath($0) }
    ignored = patterns.filter { $0.bytes.contains(UInt8(ascii: "/")) }.map { PathPattern($0) }
    ignoredNames = patterns.filter { !$0.bytes.contains(UInt8(ascii: "/")) }.map { NamePattern($0) }
    self.clock = clock
    self.report = report
    queue.async { [weak self] in self?.begin() }
  }

  /// Ends the watch; a report that has begun may still come.
  func stop() {
    isStopped.withLock { $0 = true }
    queue.async {
      self.wait?.timer.cancel()
      (self.wait, self.events, self.groups) = (nil, nil, [])
    }
  }

  /// Calls `body` on the watch's queue once its present work is done.
  func whenIdle(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  // MARK: On the queue

  private func begin() {
    do throws(WatchFault) {
      events = try FolderEvents(on: queue) { [weak self] in self?.noteEvents() }
      try look()
    } catch { fail(error) }
  }

  private func fail(_ fault: WatchFault) {
    events = nil
    if !isStopped.withLock(\.self) { report(.failure(fault)) }
  }

  private func noteEvents() {
    let found = (events?.take() ?? []).filter(matters)
    guard !found.isEmpty else { return }
    let now = clock.now
    for case .changed(let path, _) in found { arrivals[path] = now }
    let since = wait?.since ?? now
    wait?.timer.cancel()
    let delay = max(.zero, min(debounce, since + debounce * Self.patience - now))
    wait = (
      clock.schedule(after: delay, on: queue) { [weak self] in
        guard let self else { return }
        wait = nil
        do throws(WatchFault) { try look() } catch { fail(error) }
      }, since
    )
  }

  private func matters(_ event: FolderEvents.Event) -> Bool {
    guard case .changed(let path, let isFolder) = event else { return true }
    return !isIgnored(path)
      && groups.contains { group in
        !group.creates.contains { path == $0 || path.relative(to: $0) != nil }
          && group.patterns.contains { $0.reaches(path, isFolder: isFolder) }
      }
  }

  private func isIgnored(_ path: BytePath) -> Bool {
    if let name = path.components.last, ignoredNames.contains(where: { $0.matches(name) }) { return true }
    return ignored.contains { $0.reaches(path, isFolder: false) }
  }

  /// Compares the files with the last look; at the first look, with the time of the beginning.
  private func look() throws(WatchFault) {
    let isStopped = { [isStopped] in isStopped.withLock(\.self) }
    var changes: [JobID: Change] = [:]
    let arrivals = arrivals
    self.arrivals = [:]
    for index in groups.indices {
      // A folder that can't be listed now may be at the next look.
      guard let files = try files(of: groups[index], isStopped), !isStopped() else { continue }
      let found = compare(files, groups[index])
      groups[index].files = files
      guard let (path, time) = found else { continue }
      let name = (groups[index].directory.flatMap { path.relative(to: $0) } ?? path).text
      // An attempt reads the ignored ones too.
      let all = try? InputFiles(groups[index].inputs, without: groups[index].creates, isCancelled: isStopped)
      let hash = try? all?.hash(by: hashes, isCancelled: isStopped)
      let change = Change(path: name, time: time, noticed: arrivals[path], hash: hash)
      for job in groups[index].jobs { changes[job] = change }
    }
    if !changes.isEmpty, !isStopped() { report(.success(changes)) }
  }

  /// The files of a group, all of whose folders are watched.
  private func files(
    of group: Group, _ isStopped: @escaping () -> Bool
  ) throws(WatchFault) -> [BytePath: Version]? {
    while true {
      let found = try? InputFiles(
        group.inputs, without: group.creates, isIgnored: { self.isIgnored($0) }, isCancelled: isStopped)
      guard let found, let events else { return nil }
      var isNew = false
      for folder in found.folders where try events.add(folder) { isNew = true }
      // Another search finds the names that came into a folder before it was watched.
      if isNew { continue }
      var files: [BytePath: Version] = [:]
      for path in found.paths where !isIgnored(path) {
        var status = stat()
        guard stat(path.cString, &status) == 0 else { continue }
        files[path] = Version(status)
        if let known = group.files?[path], known.isSame(as: Version(status)) {
          files[path] = known
        } else {
          files[path]?.hash = try? hashes.hash(of: path, isCancelled: isStopped)
        }
      }
      return files
    }
  }

  /// The newest change from the last look; nil if nothing has changed.
  private func compare(_ files: [BytePath: Version], _ group: Group) -> (path: BytePath, time: Duration)? {
    var newest: (path: BytePath, time: Duration)?
    func note(_ path: BytePath, _ time: Duration) {
      guard let known = newest else { return newest = (path, time) }
      if (time, known.path) > (known.time, path) { newest = (path, time) }
    }
    for (path, version) in files where group.files?[path].map({ version.differs(from: $0) }) ?? true {
      var status = stat()
      guard stat(path.cString, &status) == 0 else { continue }
      // A file that was moved or copied may have an old time of its content.
      let time = FileTime(status, .change).sinceEpoch
      if group.files != nil || time > began { note(path, time) }
    }
    for path in (group.files ?? [:]).keys where files[path] == nil { note(path, systemTime()) }
    return newest
  }
}

/// The time on the clock of files, since 1970.
func systemTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
