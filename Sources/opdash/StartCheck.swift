import Foundation
import Processes
import Session

/// The resources that opdash needs, checked before anything is started.
enum StartCheck {
  /// The number of its own descriptors and one job's.
  ///
  /// With fewer, libdispatch ends the program.
  static let descriptors = 32
  /// Its threads in a busy run.
  ///
  /// If one can't be started, libdispatch blocks.
  static let threads = 16

  /// The missing resource and the advice, in one sentence; nil if there is enough.
  static func shortage() -> String? {
    let files = ResourceLimits.freeDescriptors(atMost: descriptors)
    guard files >= descriptors else {
      return "opdash opens \(descriptors) files and more, but may open only \(files): "
        + "raise the limit with ulimit -n 256"
    }
    let threads = ResourceLimits.freeThreads(atMost: Self.threads)
    guard threads >= Self.threads else {
      let advice =
        ResourceLimits.limitsMemory
        ? "raise the limit of memory with ulimit -v unlimited"
        : "raise the limit with ulimit -u 4096, or end other processes of this user"
      return "opdash starts \(Self.threads) threads and more, but may start only \(threads): \(advice)"
    }
    // The command line is read there, and the processes that a job leaves behind are found there.
    guard access("/proc/self/cmdline", R_OK) == 0 else {
      return "/proc is not mounted, where processes are looked for: mount it with mount -t proc proc /proc"
    }
    return nil
  }

  /// Throws if the current folder has been removed: jobs would run in another one.
  static func currentFolder(_ environment: Environment) throws(UsageError) {
    if let path = getcwd(nil, 0) { return free(path) }
    let reason = errno == ENOENT ? "no longer exists" : "is not usable (\(String(cString: strerror(errno))))"
    let name = environment.variables["PWD"].map { ": \($0)" } ?? ""
    throw UsageError("the current folder \(reason)\(name): change to another with cd")
  }
}
