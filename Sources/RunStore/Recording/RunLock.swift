import Basics
import Foundation

/// Tells programs on other machines and in other containers, which see neither this process nor its boot, that it executes a
/// run: a lock on the run's byte of a file in the state folder, until this value or the process ends.
///
/// The kernel, or the server of a shared file system, releases it. Where SQLite can lock its database, this lock works
/// too.
final class RunLock: Sendable {
  private let descriptor: Int32

  private static func path(in folder: String) -> String { "\(folder)/opdash.live" }

  /// Nil if the file can't be opened or the lock can't be taken: then only this machine knows that the run is live.
  init?(run number: Int, in folder: String) {
    guard let descriptor = try? ForeignFile.open(Self.path(in: folder), for: .updating(mode: 0o600), .own) else {
      return nil
    }
    self.descriptor = descriptor
    var lock = Self.lock(of: number)
    // Without it, `deinit` closes the file.
    guard fcntl(descriptor, Self.set, &lock) == 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Whether a program holds the lock of a run.
  static func isHeld(run number: Int, in folder: String) -> Bool {
    guard let descriptor = try? ForeignFile.open(path(in: folder), .own) else { return false }
    defer { close(descriptor) }
    var lock = lock(of: number)
    return fcntl(descriptor, get, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
  }

  private static func lock(of number: Int) -> flock {
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = off_t(number)
    lock.l_len = 1
    return lock
  }

  // F_OFD_SETLK and F_OFD_GETLK, which Swift does not import: the lock is the descriptor's, so that this process may open and
  // close the file meanwhile.
  private static let (set, get): (Int32, Int32) = (37, 36)
}
