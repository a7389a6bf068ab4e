import Basics
import Foundation

/// A folder of this user's, mode 0700, with a socket for each program that has a run.
///
/// A socket is named after its process and the place where that executes, because machines and containers may share the
/// folder. It is reached through the folder's descriptor, so that its path is short enough for the system however long the
/// folder's is.
package final class SocketFolder: Sendable {
  package let path: String
  private let descriptor: Int32

  /// The folders that may have sockets, the first choice first: of the session's runtime folder and of the state folder.
  ///
  /// A runtime folder may be removed when its user logs out.
  package static func paths(runtimeFolder: String?, stateFolder: String?) -> [String] {
    [runtimeFolder.map { "\($0)/opdash" }, stateFolder.map { "\($0)/live" }].compactMap(\.self)
  }

  /// Opens the folder, which is made unless it is there; nil if it isn't there and is not to be made.
  package init?(_ path: String, makes: Bool) throws(RemoteError) {
    self.path = path
    if makes { _ = PrivateFolder.make(path) }
    descriptor = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT, !makes { return nil }
      throw .folder(path, reason: String(cString: strerror(errno)))
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_uid == geteuid() else {
      throw .folder(path, reason: "it belongs to another user")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw .folder(path, reason: "others can reach it: chmod 700 makes it private")
    }
  }

  deinit { close(descriptor) }

  private func reach(_ name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }

  /// The boot of the machine and the namespace of the process's number: containers share the boot, machines may share a
  /// name, and a machine may change its name.
  static let place = "\(MachineBoot.id).\(FileStatus("/proc/self/ns/pid", followsLink: true)?.value.st_ino ?? 0)"

  // MARK: One that listens

  /// A socket that programs of this place can connect to.
  package final class Listener: Sendable {
    package let descriptor: Int32
    private let folder: SocketFolder
    private let name: String
    private let isThere = Lock(true)

    fileprivate init(_ descriptor: Int32, in folder: SocketFolder, name: String) {
      (self.descriptor, self.folder, self.name) = (descriptor, folder, name)
    }

    package var path: String { "\(folder.path)/\(name)" }

    /// Removes the name, so that no further program connects.
    package func remove() {
      isThere.withLock { isThere in
        // Another listener of this process may have the name later.
        guard isThere else { return }
        isThere = false
        unlinkat(folder.descriptor, name, 0)
        folder.giveBack(name)
      }
    }
  }

  /// The paths that this process listens on.
  private static let taken = Lock<Set<String>>([])

  /// `PID@PLACE`, or `PID.2@PLACE` and so on for a process that listens already.
  private func takeName() -> String {
    Self.taken.withLock { taken in
      var number = 1
      while true {
        let name = "\(getpid())\(number == 1 ? "" : ".\(number)")@\(Self.place)"
        if taken.insert("\(path)/\(name)").inserted { return name }
        number += 1
      }
    }
  }

  private func giveBack(_ name: String) { Self.taken.withLock { _ = $0.remove("\(path)/\(name)") } }

  /// Listens as this process, which may do so several times.
  package func listen() throws(RemoteError) -> Listener {
    let socket = try Self.makeSocket()
    let name = takeName()
    // Until it listens, it would look like the socket of a dead program.
    let early = "." + name
    unlinkat(descriptor, early, 0)
    do throws(RemoteError) {
      // As everything in a state folder; who can't write to a socket can't connect to it. `bind` gives the file this mode.
      guard fchmod(socket, 0o600) == 0 else { throw .system("chmod", errno) }
      let failure = Self.withAddress(reach(early)) { bind(socket, $0, $1) }
      guard failure == 0 else { throw .system("bind", failure) }
      guard Foundation.listen(socket, 64) == 0 else { throw .system("listen", errno) }
      guard renameat(descriptor, early, descriptor, name) == 0 else { throw .system("rename", errno) }
    } catch {
      unlinkat(descriptor, early, 0)
      close(socket)
      giveBack(name)
      throw error
    }
    return Listener(socket, in: self, name: name)
  }

  // MARK: Those that connect

  /// The sockets of this place's programs, by name.
  package var names: [String] {
    let all = BytePath(path).names() ?? []
    return all.map(\.text).filter { Self.process(of: $0) != nil }.sorted()
  }

  /// The process that a socket of this place is named after; nil for another place's, and for other files.
  private static func process(of name: String) -> Int32? {
    let parts = name.utf8.split(separator: UInt8(ascii: "@"), maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 2, parts[1] == place else { return nil }
    return Int32(parts[0].prefix { $0 != "." })
  }

  /// Connects to a program of this user; nil if nothing listens: then the socket is removed if its program is gone.
  package func connect(to name: String) throws(RemoteError) -> (descriptor: Int32, pid: Int32)? {
    let socket = try Self.makeSocket()
    let failure = Self.withAddress(reach(name)) { Foundation.connect(socket, $0, $1) }
    guard failure == 0, let peer = PeerIdentity(of: socket) else {
      close(socket)
      switch failure {
      case ECONNREFUSED:
        if let process = Self.process(of: name), kill(process, 0) != 0, errno == ESRCH { unlinkat(descriptor, name, 0) }
        return nil
      case ENOENT, 0: return nil
      // Its queue of connections is full.
      case EAGAIN: throw .silent(pid: Self.process(of: name) ?? 0)
      default: throw .system("connect", failure)
      }
    }
    guard peer.user == geteuid() else {
      close(socket)
      throw .otherUser(pid: peer.pid)
    }
    return (socket, peer.pid)
  }

  private static func makeSocket() throws(RemoteError) -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let socket = socket(AF_UNIX, kind, 0)
    guard socket >= 0 else { throw .system("socket", errno) }
    return socket
  }

  /// Calls `body` with the address of a path; returns 0, or the error number if that is too long or `body` fails.
  private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return ENAMETOOLONG }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) == 0 ? 0 : errno }
    }
  }
}

/// Who is at the other end of a connected socket, as the system knows it.
struct PeerIdentity {
  var pid: Int32
  var user: uid_t

  init?(of socket: Int32) {
    // struct ucred, which Swift imports only with _GNU_SOURCE.
    var credentials: (pid: Int32, user: uid_t, group: gid_t) = (0, .max, .max)
    var length = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
    (pid, user) = (credentials.pid, credentials.user)
  }
}
