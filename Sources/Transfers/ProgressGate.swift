/// Lets reports through at most ten times a second: the first at once, and always the latest in the end.
///
/// It lives on the transfer thread and asks for no time while nothing is reported.
final class ProgressGate {
  private static let interval = Duration.milliseconds(100)

  private let thread: TransferThread
  private let send: (TransferProgress) -> Void
  private var isShut = false
  private var waiting: TransferProgress?
  private var sent: TransferProgress?

  init(on thread: TransferThread, _ send: @escaping (TransferProgress) -> Void) {
    self.thread = thread
    self.send = send
  }

  func report(_ progress: TransferProgress) {
    guard !isShut else {
      waiting = progress
      return
    }
    pass(progress)
    isShut = true
    thread.after(Self.interval) { [weak self] in self?.open() }
  }

  /// Sends the latest without waiting for its turn.
  func flush() {
    guard let progress = waiting else { return }
    waiting = nil
    pass(progress)
  }

  private func open() {
    isShut = false
    guard let progress = waiting else { return }
    waiting = nil
    report(progress)
  }

  private func pass(_ progress: TransferProgress) {
    guard progress != sent else { return }
    sent = progress
    send(progress)
  }
}
