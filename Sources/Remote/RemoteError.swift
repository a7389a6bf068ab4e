import Foundation

/// Why a run in another program can't be reached, or this one can't be reached by others, with the remedy.
package enum RemoteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A folder for sockets that can't be used.
  case folder(String, reason: String)
  /// A call of the system has failed.
  case system(String, Int32)
  /// The program's protocol has another version.
  case version(Int, pid: Int32)
  /// The program has refused to be attached to.
  case refused(String)
  /// The program at the other end belongs to another user.
  case otherUser(pid: Int32)
  /// The program does not speak the protocol.
  case garbled(String, pid: Int32)
  case silent(pid: Int32)
  /// The program has ended.
  case ended

  package var description: String {
    switch self {
    case .folder(let path, let reason): "\(path) can't hold sockets: \(reason)"
    case .system(let call, let number): "\(call): \(String(cString: strerror(number)))"
    case .version(let version, let pid):
      "process \(pid) speaks version \(version) of the protocol, this opdash version \(Wire.version): "
        + "use the opdash that it is"
    case .refused(let reason): reason
    case .otherUser(let pid): "process \(pid) belongs to another user, who alone can attach to it"
    case .garbled(let fault, let pid): "process \(pid) does not speak the protocol of opdash: \(fault)"
    case .silent(let pid): "process \(pid) does not answer: it may be stopped; kill -CONT \(pid) resumes it"
    case .ended: "the program has ended"
    }
  }
}
