import Foundation

/// Opens files whose paths a job, another user or a server could have changed.
///
/// Opening never waits, as it does for a FIFO without a writer, and never acts on a device: only regular files are
/// opened, except for `Place.argument` and `Purpose.output`.
package enum ForeignFile {
  /// Whose file is expected at a path.
  package enum Place: Sendable {
    /// The path was given by a person or a job file: links are followed, and the file may belong to any user.
    case named
    /// The path is an argument of the program. As `named`, but `/dev/fd/N` and `/dev/stdin` are descriptors that the
    /// caller has passed, pipes too, as shells do for `<(command)`; reading them may wait for the caller.
    case argument
    /// The file is one of opdash's, in a folder of its own: links are refused, and so is another user's file.
    case own
    /// The file is one of opdash's in a folder that others may write to. As `own`, but where they may replace each
    /// other's files, the file may belong to any user.
    case shared

    fileprivate var isOurs: Bool { self == .own || self == .shared }
  }

  /// The purpose of opening a file; a file that is made gets mode `0600`, unless the purpose has a mode.
  package enum Purpose: Sendable, Equatable {
    case reading
    /// The file is made if it is missing.
    case appending
    /// The file is made if it is missing, and is emptied.
    case replacing
    /// For reading and writing; the file is made if it is missing.
    case updating(mode: mode_t)
    /// As `replacing`, but the file is not emptied, and devices and FIFOs that are read are accepted too.
    case output

    fileprivate var flags: Int32 {
      switch self {
      case .reading: O_RDONLY
      case .appending: O_WRONLY | O_APPEND
      case .replacing, .output: O_WRONLY
      case .updating: O_RDWR
      }
    }

    fileprivate var mode: mode_t { if case .updating(let mode) = self { mode } else { 0o600 } }
  }

  /// Returns a descriptor, which the caller closes and programs don't inherit.
  ///
  /// Never opens a file whose name holds a NUL byte, which the system would take for its end.
  package static func open(
    _ path: String, for purpose: Purpose = .reading, _ place: Place
  ) throws(FileProblem) -> Int32 {
    guard !path.utf8.contains(0) else { throw FileProblem(path, .system(EINVAL)) }
    if place == .argument, let number = passed(path) { return try duplicate(number, path) }
    // Before the file is opened: a device may act on that.
    if let status = FileStatus(path, followsLink: !place.isOurs) { try check(kind: status, path, purpose) }
    let (descriptor, isMade) = try open(path, purpose, place)
    do throws(FileProblem) {
      guard let status = FileStatus(descriptor) else { throw FileProblem(path, .system(errno)) }
      try check(kind: status, path, purpose)
      if place.isOurs, !isMade { try check(owner: status, path, purpose, place) }
      if purpose == .replacing, ftruncate(descriptor, 0) != 0 { throw FileProblem(path, .system(errno)) }
      // A write to a pipe must wait for its reader.
      if purpose == .output { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) }
      return descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// The bytes of a file; one with more than `limit` is a failure.
  package static func contents(_ path: String, _ place: Place, limit: Int) throws(FileProblem) -> [UInt8] {
    let descriptor = try open(path, place)
    defer { close(descriptor) }
    return try contents(of: descriptor, path, limit: limit)
  }

  /// The bytes that come from a descriptor, which is not closed; more than `limit` are a failure.
  package static func contents(of descriptor: Int32, _ path: String, limit: Int) throws(FileProblem) -> [UInt8] {
    if let status = FileStatus(descriptor), status.kind == S_IFREG, Int64(status.value.st_size) > Int64(limit) {
      throw FileProblem(path, .isTooLarge(limit: limit))
    }
    let bytes = try prefix(of: descriptor, path, limit + 1)
    guard bytes.count <= limit else { throw FileProblem(path, .isTooLarge(limit: limit)) }
    return bytes
  }

  /// The first bytes that come from a descriptor, at most `count`.
  package static func prefix(of descriptor: Int32, _ path: String, _ count: Int) throws(FileProblem) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: min(count, 1 << 16))
    while bytes.count < count {
      let read = Foundation.read(descriptor, &buffer, min(buffer.count, count - bytes.count))
      if read < 0, errno == EINTR { continue }
      if read < 0, errno == EAGAIN {
        // Another program that has the same pipe open may have asked for it.
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&request, 1, -1)
        continue
      }
      guard read >= 0 else { throw FileProblem(path, .system(errno)) }
      if read == 0 { break }
      bytes += buffer[..<read]
    }
    return bytes
  }

  /// Writes all bytes to a descriptor.
  package static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(FileProblem) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileProblem(path, .system(errno)) }
      rest = rest.dropFirst(count)
    }
  }

  /// Whether an argument is a descriptor that the caller of the program has passed.
  package static func isPassed(_ path: String) -> Bool { passed(path) != nil }

  /// Whether an argument, `-` for standard input, has content that a later process can't read again.
  package static func isReadOnce(_ path: String) -> Bool { path == "-" || isPassed(path) }

  /// The problem with a file that other code will open; nil if it has none, and for a missing file.
  package static func problem(at path: String, _ place: Place) -> FileProblem? {
    guard let status = FileStatus(path, followsLink: !place.isOurs) else { return nil }
    do throws(FileProblem) {
      try check(kind: status, path, .reading)
      if place.isOurs { try check(owner: status, path, .reading, place) }
      return nil
    } catch {
      return error
    }
  }

  // MARK: Opening

  private static func open(
    _ path: String, _ purpose: Purpose, _ place: Place
  ) throws(FileProblem) -> (descriptor: Int32, isMade: Bool) {
    var flags = purpose.flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    if place.isOurs { flags |= O_NOFOLLOW }
    if purpose == .reading || !place.isOurs {
      let descriptor = Foundation.open(path, purpose == .reading ? flags : flags | O_CREAT, purpose.mode)
      guard descriptor >= 0 else { throw failure(path, place, errno) }
      return (descriptor, false)
    }
    // A file that disappears between the two calls again and again is an attack.
    for _ in 0..<100 {
      // On a file system that gives each file to a user of its own choice, only a file that is made here is known to be ours.
      let made = Foundation.open(path, flags | O_CREAT | O_EXCL, purpose.mode)
      if made >= 0 { return (made, true) }
      guard errno == EEXIST else { throw failure(path, place, errno) }
      let found = Foundation.open(path, flags)
      if found >= 0 { return (found, false) }
      guard errno == ENOENT else { throw failure(path, place, errno) }
    }
    throw FileProblem(path, .system(EEXIST))
  }

  private static func failure(_ path: String, _ place: Place, _ number: Int32) -> FileProblem {
    // The errors that stand for the kind of a file.
    guard [ELOOP, EISDIR, ENXIO, EEXIST].contains(number), let status = FileStatus(path, followsLink: !place.isOurs),
      let reason = FileProblem.Reason(kind: status.kind)
    else { return FileProblem(path, .system(number)) }
    return FileProblem(path, reason)
  }

  private static func check(kind status: FileStatus, _ path: String, _ purpose: Purpose) throws(FileProblem) {
    if purpose == .output, status.kind == S_IFIFO || status.kind == S_IFCHR { return }
    if let reason = FileProblem.Reason(kind: status.kind) { throw FileProblem(path, reason) }
  }

  private static func check(
    owner status: FileStatus, _ path: String, _ purpose: Purpose, _ place: Place
  ) throws(FileProblem) {
    guard purpose == .reading || status.value.st_nlink <= 1 else { throw FileProblem(path, .hasOtherNames) }
    let user = status.value.st_uid
    if user == geteuid() || user == 0 { return }
    let name = (path as NSString).deletingLastPathComponent
    let folder = FileStatus(name.isEmpty ? "." : name, followsLink: true)?.value
    // The owner of the folder may do anything in it; there are disks on which one user owns all.
    if user == folder?.st_uid { return }
    guard place == .shared, let folder, folder.st_mode & S_ISVTX == 0 else {
      throw FileProblem(path, .isOfAnotherUser)
    }
  }

  // MARK: Descriptors that were passed

  private static func passed(_ path: String) -> Int32? {
    switch path {
    case "/dev/stdin": return STDIN_FILENO
    case "/dev/stdout": return STDOUT_FILENO
    case "/dev/stderr": return STDERR_FILENO
    default:
      for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
        let digits = path.utf8.dropFirst(folder.utf8.count)
        let isNumber = digits.allSatisfy { $0.isASCIIDigit }
        return isNumber ? Int32(String(digits) ?? "") : nil
      }
      return nil
    }
  }

  /// Not opened by its name: a file would be read from its beginning, and a socket can't be opened.
  private static func duplicate(_ number: Int32, _ path: String) throws(FileProblem) -> Int32 {
    let descriptor = fcntl(number, F_DUPFD_CLOEXEC, 3)
    guard descriptor >= 0 else { throw FileProblem(path, .system(errno)) }
    guard let status = FileStatus(descriptor), status.kind != S_IFDIR else {
      close(descriptor)
      throw FileProblem(path, .isFolder)
    }
    return descriptor
  }
}
