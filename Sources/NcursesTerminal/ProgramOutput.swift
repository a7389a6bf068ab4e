import Basics
import CTerminal
import Foundation

/// The standard output and error of this process while a screen has their terminal.
///
/// A stream that is the terminal is replaced by a pipe, which a thread of its own reads; a stream that was redirected
/// stays as it is. Output not yet shown is written once the screen is restored, also when the process crashes
/// or calls `exit`. There is one instance in a process at a time, used by one thread at a time.
package final class ProgramOutput: Sendable {
  /// Called on any thread with bytes from either stream; must neither block nor write to the streams.
  package typealias Receiver = @Sendable ([UInt8]) -> Void

  /// The terminal, for the screen.
  package let terminal: Int32
  private let folder: String
  private let receive: Receiver

  private static let receiver = Lock<Receiver?>(nil)

  /// Nil if standard output isn't a terminal; `folder` is for the unlinked file that keeps the output.
  package init?(folder: String, receive: @escaping Receiver = { _ in }) {
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    terminal = output_capture_terminal(STDOUT_FILENO)
    guard terminal >= 0 else { return nil }
    self.folder = folder
    self.receive = receive
  }

  /// Has standard output write each line when it ends, whatever it is, so that lines of others stand between whole lines.
  package static func keepLinesWhole() { output_keep_lines_whole() }

  /// Captures the streams; where no file, descriptor or thread can be had they stay the terminal.
  ///
  /// `receive` is called instead of the receiver of this object.
  package func begin(_ receive: Receiver? = nil) {
    Self.receiver.withLock { $0 = receive ?? self.receive }
    _ = output_capture_begin(folder) { bytes, count in
      guard let bytes, let receive = ProgramOutput.receiver.withLock({ $0 }) else { return }
      receive(Array(UnsafeRawBufferPointer(start: UnsafeRawPointer(bytes), count: count)))
    }
  }

  /// Restores the streams and writes output not yet shown to the terminal.
  package func end() { output_capture_end() }

  /// The number of bytes that `takeLines` returns at most.
  private static let takenAtMost = 1 << 20

  /// The whole lines that the terminal has not shown, oldest first, and whether there are more; the caller writes them to the
  /// terminal.
  package func takeLines() -> (bytes: [UInt8], hasMore: Bool) {
    let bytes = [UInt8](unsafeUninitializedCapacity: Self.takenAtMost) { buffer, count in
      count = buffer.withMemoryRebound(to: CChar.self) { output_capture_peek($0.baseAddress, $0.count) }
    }
    // A line longer than that is shown in parts.
    let isFull = bytes.count == Self.takenAtMost
    let end = bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? (isFull ? bytes.count : 0)
    output_capture_shown(end)
    return (Array(bytes[..<end]), isFull)
  }
}
