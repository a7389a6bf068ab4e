import CMicrohttpd
import Dispatch
import Operations

/// A connection or the server itself.
///
/// Safe: it is passed only to the library, whose functions lock, and a suspended connection exists until it is resumed.
struct LibraryPointer: Hashable, @unchecked Sendable {
  let pointer: OpaquePointer
}

/// Connections that are suspended for a time, without a thread.
final class Suspensions: Sendable {
  private struct State {
    var waiting: Set<LibraryPointer> = []
    var isClosed = false
  }

  private let state = Lock(State())
  private let queue = DispatchQueue(label: "opdash.demo-server.timers")

  /// Returns whether the connection was suspended; after `close` none is.
  func suspend(_ connection: LibraryPointer, for delay: Duration) -> Bool {
    let suspended = state.withLock { state in
      guard !state.isClosed else { return false }
      MHD_suspend_connection(connection.pointer)
      state.waiting.insert(connection)
      return true
    }
    guard suspended else { return false }
    let nanoseconds = Int(min(delay / .nanoseconds(1), 1e18))
    queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [self] in
      state.withLock { state in
        // `close` may have resumed it; the library must not be told twice.
        if state.waiting.remove(connection) != nil { MHD_resume_connection(connection.pointer) }
      }
    }
    return true
  }

  /// Resumes all connections; the library can't stop while one is suspended.
  func close() {
    state.withLock { state in
      state.isClosed = true
      for connection in state.waiting { MHD_resume_connection(connection.pointer) }
      state.waiting = []
    }
  }
}
