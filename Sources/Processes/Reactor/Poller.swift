import CProcess
import Foundation
import Operations

/// Waits for the ends of processes and for output: an epoll descriptor whose events carry tokens.
final class Poller: @unchecked Sendable {
  // Safe: the descriptors don't change, and one thread calls `wait`.

  /// The events that `wait` reports.
  enum Interest {
    /// The end of the process of a pidfd; once more when a debugger, which sees an end first, gives it back to the parent.
    case end
    /// Bytes and the end of the stream, edge-triggered: read until there is no more.
    case output
    /// The same for the controller of a terminal; also reports that a program has read its input.
    case terminal

    fileprivate var events: UInt32 {
      switch self {
      case .end, .output: EPOLLIN.rawValue | EPOLLET.rawValue
      case .terminal: EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLET.rawValue
      }
    }
  }

  private let descriptor: Int32
  private let waker: Int32
  private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 64)

  init() {
    descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
    require(descriptor >= 0, "no poller: \(ProcessError.text(errno))")
    waker = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    require(waker >= 0 && watch(waker, for: .output, token: .max), "no waker: \(ProcessError.text(errno))")
  }

  deinit {
    _ = close(waker)
    _ = close(descriptor)
    events.deallocate()
  }

  /// Reports events of a descriptor with this token, from any thread; returns false if the system refuses.
  func watch(_ watched: Int32, for interest: Interest, token: UInt64) -> Bool {
    var event = epoll_event(events: interest.events, data: epoll_data_t(u64: token))
    return epoll_ctl(descriptor, EPOLL_CTL_ADD, watched, &event) == 0
  }

  /// Makes `wait` return, from any thread.
  func wake() {
    var one: UInt64 = 1
    while write(waker, &one, MemoryLayout.size(ofValue: one)) < 0, errno == EINTR {}
  }

  /// Waits for events, at most for some milliseconds (negative: without limit), and calls `body` with their tokens.
  func wait(atMost milliseconds: Int64, _ body: (UInt64) -> Void) {
    let limit = Int32(min(milliseconds, 3_600_000))
    let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), limit)
    cprocess_hold_if_ending()
    for event in events.prefix(Int(max(count, 0))) where event.data.u64 != .max { body(event.data.u64) }
  }
}
