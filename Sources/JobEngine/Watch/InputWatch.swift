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
    /// The file, if it does not exist any more.
    let gone: Gone?
    /// The file of an earlier change that still does not exist.
    let stillGone: String?
    /// When the file changed, on the system's clock, since 1970.
    let time: Duration
    /// When its event came, on the clock of the watch; nil if only an event of a folder above did.
    let noticed: Duration?
    /// The hash of all inputs now, as an attempt states it; nil if one can't be read.
    let hash: String?
    /// When they had been read, on the clock of the watch.
    let read: Duration
  }

  /// A file that does not exist any more.
  struct Gone: Equatable {
    let path: String
    /// When it was removed, at the latest, on the system's clock, since 1970.
    let time: Duration
  }

  /// Jobs with the same inputs, and their files as of the last look.
  private struct Group {
    let jobs: [JobID]
    let inputs: [BytePath]
    let creates: [BytePath]
    let directory: BytePath?
    let patterns: [PathPattern]
    /// When the watch over it began, on the clock of files.
    let since = systemTime()
    /// Nil before the first look.
    var files: [BytePath: Version]?
    /// The file that was reported last as one that does not exist any more.
    var gone: BytePath?
  }

  /// A file as of one look.
  private struct Version {
    let file: FileHashes.Version
    /// Nil for a file that can't be read.
    var hash: String?

    /// Whether the content has changed, which a touched file's has not.
    func differs(from other: Version) -> Bool {
      file != other.file && (hash == nil || hash != other.hash)
    }
  }

  /// Files that change without rest are looked at after this many times the debounce.
  private static let patience = 30
  /// The clock of files steps by so much, at most.
  static let tick: Duration = .milliseconds(10)

  private let queue = DispatchQueue(label: "opdash.watch", qos: .utility)
  private let clock: any OperationClock
  private let debounce: Duration
  private let hashes: FileHashes
  private let ignored: [PathPattern]
  private let ignoredNames: [NamePattern]
  private let report: @Sendable (Result<[JobID: Change], WatchFault>) -> Void
  private let isStopped = Lock(false)
  /// When the newest change was noticed, on the clock of files.
  private var noticed = systemTime()
  /// When the last look began, or the watch, on that clock.
  private var looked = systemTime()
  private var groups: [Group]
  private var events: FolderEvents?
  /// The way to the files of the last look.
  private var trail = PathTrail()
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
    groups = InputWatch.groups(of: jobs)
    debounce = rules.debounce
    self.hashes = hashes
    let patterns = rules.ignored.map { BytePath($0) }
    ignored = patterns.filter { $0.bytes.contains(UInt8(ascii: "/")) }.map { PathPattern($0) }
    ignoredNames = patterns.filter { !$0.bytes.contains(UInt8(ascii: "/")) }.map { NamePattern($0) }
    self.clock = clock
    self.report = report
    queue.async { [weak self] in self?.begin() }
  }

  private static func groups(of jobs: [Job]) -> [Group] {
    struct Key: Hashable {
      let inputs: [BytePath]
      let creates: [BytePath]
      let directory: BytePath?
    }
    return Dictionary(grouping: jobs) { Key(inputs: $0.inputs, creates: $0.creates, directory: $0.directory) }.map {
      Group(
        jobs: $1.map(\.id), inputs: $0.inputs, creates: $0.creates, directory: $0.directory,
        patterns: $0.inputs.map { PathPattern($0) })
    }
  }

  /// Watches more jobs; files that are not at rest are still waited for.
  func add(_ jobs: [Job]) {
    let new = Self.groups(of: jobs)
    queue.async { [weak self] in
      guard let self else { return }
      groups += new
      // The look that is due includes them.
      if wait == nil { lookAgain() }
    }
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

  private func lookAgain() {
    do throws(WatchFault) { try look() } catch { fail(error) }
  }

  private func fail(_ fault: WatchFault) {
    events = nil
    if !isStopped.withLock(\.self) { report(.failure(fault)) }
  }

  private func noteEvents() {
    let found = (events?.take() ?? []).filter(matters)
    guard !found.isEmpty else { return }
    let now = clock.now
    noticed = systemTime()
    for case .changed(let path, _) in found { arrivals[path] = now }
    let since = wait?.since ?? now
    wait?.timer.cancel()
    let delay = max(.zero, min(debounce, since + debounce * Self.patience - now))
    wait = (
      clock.schedule(after: delay, on: queue) { [weak self] in
        self?.wait = nil
        self?.lookAgain()
      }, since
    )
  }

  private func matters(_ event: FolderEvents.Event) -> Bool {
    guard case .changed(let path, let isFolder) = event, !trail.names.contains(path) else { return true }
    guard trail.folders.contains(path.folder), !isIgnored(path) else { return false }
    // The patterns take a link to a folder for one.
    let mayBeFolder = isFolder || path.linkTarget != nil
    return groups.contains { group in
      !group.creates.contains { path == $0 || path.relative(to: $0) != nil }
        && group.patterns.contains { $0.reaches(path, isFolder: mayBeFolder) }
    }
  }

  private func isIgnored(_ path: BytePath) -> Bool {
    if hashes.isOwn(path) { return true }
    if let name = path.components.last, ignoredNames.contains(where: { $0.matches(name) }) { return true }
    return ignored.contains { $0.reaches(path, isFolder: false) }
  }

  /// Compares the files with the last look; at the first look, with the time when the watch over them began.
  private func look() throws(WatchFault) {
    let isStopped = { [isStopped] in isStopped.withLock(\.self) }
    var changes: [JobID: Change] = [:]
    let (known, began) = (arrivals, systemTime())
    arrivals = [:]
    for (index, paths) in zip(groups.indices, try search(isStopped)) {
      // A folder that can't be listed now may be at the next look.
      guard let paths, !isStopped() else { continue }
      let files = versions(of: paths, groups[index], isStopped)
      // The event of a change is there before the change can be seen, but the queue may not have told of it yet.
      noteEvents()
      let found = compare(files, groups[index])
      groups[index].files = files
      guard let (path, time, goneAt) = found else { continue }
      let name = (groups[index].directory.flatMap { path.relative(to: $0) } ?? path).text
      // An attempt reads the ignored ones too.
      let all = try? InputFiles(
        groups[index].inputs, without: groups[index].creates, hashes: hashes, isCancelled: isStopped)
      let hash = try? all?.hash(by: hashes, isCancelled: isStopped)
      let stillGone = groups[index].gone.flatMap { files[$0] == nil ? $0.text : nil }
      if goneAt != nil { groups[index].gone = path }
      let change = Change(
        path: name, gone: goneAt.map { Gone(path: path.text, time: $0) }, stillGone: stillGone, time: time,
        noticed: arrivals[path] ?? known[path], hash: hash, read: clock.now)
      for job in groups[index].jobs { changes[job] = change }
    }
    looked = began
    if !changes.isEmpty, !isStopped() { report(.success(changes)) }
  }

  /// The paths of each group's files, nil where a folder can't be listed; the ways to all of them are watched.
  private func search(_ isStopped: @escaping () -> Bool) throws(WatchFault) -> [Set<BytePath>?] {
    while let events, !isStopped() {
      var trail = PathTrail()
      let found = groups.map { group -> Set<BytePath>? in
        var search = FileSearch(
          without: group.creates, isIgnored: { self.isIgnored($0) }, isCancelled: isStopped)
        let isWhole = (try? group.inputs.map { try search.find($0) }) != nil
        let paths = search.found.filter { !isIgnored($0) }
        for folder in search.folders { trail.add(folder: folder) }
        for path in paths where path.linkTarget != nil { trail.add(path) }
        return isWhole ? paths : nil
      }
      self.trail = trail
      // Another search finds the names that came into a folder before it was watched.
      if try !events.watch(trail.folders, names: Set(trail.names.map(\.folder))) { return found }
    }
    return []
  }

  private func versions(
    of paths: Set<BytePath>, _ group: Group, _ isStopped: () -> Bool
  ) -> [BytePath: Version] {
    var files: [BytePath: Version] = [:]
    for path in paths {
      guard let status = FileStatus(path, followsLink: true) else { continue }
      let version = FileHashes.Version(status)
      if let known = group.files?[path], known.file == version {
        files[path] = known
      } else {
        files[path] = Version(file: version, hash: try? hashes.hash(of: path, isCancelled: isStopped))
      }
    }
    return files
  }

  /// The newest change from the last look; nil if nothing has changed.
  ///
  /// Of files that do not exist any more, the one that went last is reported, with that time, whatever else has changed.
  private func compare(
    _ files: [BytePath: Version], _ group: Group
  ) -> (path: BytePath, time: Duration, goneAt: Duration?)? {
    typealias Newest = (path: BytePath, time: Duration)
    func note(_ path: BytePath, _ changed: Duration, in newest: inout Newest?) {
      // One that a folder or a link has brought along, or taken away, did not change itself.
      let time = changed + Self.tick < looked ? noticed : changed
      guard let known = newest else { return newest = (path, time) }
      if (time, known.path) > (known.time, path) { newest = (path, time) }
    }
    var changed: Newest?
    for (path, version) in files where group.files?[path].map({ version.differs(from: $0) }) ?? true {
      let time = version.file.changed
      if group.files == nil, time <= group.since { continue }
      note(path, time, in: &changed)
    }
    var gone: Newest?
    for path in (group.files ?? [:]).keys where files[path] == nil {
      note(path, min(noticed, Self.lastChange(above: path) ?? noticed), in: &gone)
    }
    guard let newest = gone ?? changed else { return nil }
    return (newest.path, max(newest.time, changed?.time ?? .zero), gone?.time)
  }

  /// When the folder has changed that a missing file was in, or the first one above it that exists.
  private static func lastChange(above path: BytePath) -> Duration? {
    var folder = path.folder
    while !folder.bytes.isEmpty {
      if let status = FileStatus(folder, followsLink: true) { return status.changed }
      folder = folder.folder
    }
    return nil
  }
}

/// The time on the clock of files, since 1970.
func systemTime() -> Duration { .now(on: CLOCK_REALTIME) }
