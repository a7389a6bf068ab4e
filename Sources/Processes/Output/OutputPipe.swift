import CProcess
import Foundation

/// Both ends of a child's stream, which is a pipe or a terminal; no child inherits them.
///
/// The writer stays open until the leader has ended, so that the end of the stream causes no extra wake-up, and so that
/// a terminal that the program has closed can be opened again.
struct OutputPipe {
  /// Non-blocking; the writer blocks, because programs expect a blocking standard output.
  private(set) var reader: Int32 = -1
  private(set) var writer: Int32 = -1
  private(set) var isTerminal = false

  var isOpen: Bool { reader >= 0 }

  /// Opens a pipe; returns 0 or an errno, after which `close` must follow.
  mutating func open() -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard pipe2(&ends, O_CLOEXEC) == 0 else { return errno }
    reader = Self.aboveStandard(ends[0])
    writer = Self.aboveStandard(ends[1])
    return isOpen && writer >= 0 && fcntl(reader, F_SETFL, O_NONBLOCK) == 0 ? 0 : errno
  }

  /// Opens a terminal: lines, no echo, no flow control, and line feeds without carriage returns; returns like `open`.
  mutating func openTerminal(_ size: TerminalSize) -> Int32 {
    isTerminal = true
    reader = Self.aboveStandard(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC))
    guard isOpen, grantpt(reader) == 0, unlockpt(reader) == 0 else { return errno }
    // TIOCGPTPEER, which Swift does not import. Not by its path, which may lead elsewhere in a container.
    writer = Self.aboveStandard(ioctl(reader, 0x5441, O_RDWR | O_NOCTTY | O_CLOEXEC))
    var modes = termios()
    guard writer >= 0, resize(to: size), tcgetattr(writer, &modes) == 0 else { return errno }
    modes.c_iflag &= ~tcflag_t(IXON | IXOFF | IXANY)
    modes.c_oflag &= ~tcflag_t(ONLCR)
    modes.c_lflag &= ~tcflag_t(ECHO)
    guard tcsetattr(writer, TCSANOW, &modes) == 0 else { return errno }
    return fcntl(reader, F_SETFL, O_RDWR | O_NONBLOCK) == 0 ? 0 : errno
  }

  /// Sets the size of a terminal; the kernel notifies its foreground group.
  @discardableResult func resize(to size: TerminalSize) -> Bool {
    guard isTerminal, isOpen else { return false }
    var size = winsize(ws_row: UInt16(size.rows), ws_col: UInt16(size.columns), ws_xpixel: 0, ws_ypixel: 0)
    return ioctl(reader, UInt(TIOCSWINSZ), &size) == 0
  }

  /// Types the end of the input into a terminal whose input is empty, for the next read: nothing else is ever typed.
  ///
  /// A program that reads single keys gets Control-D, only with `alsoKeys`, because it may never stop reading.
  func endInput(alsoKeys: Bool) {
    guard isTerminal, writer >= 0 else { return }
    var input = pollfd(fd: writer, events: Int16(POLLIN), revents: 0)
    var modes = termios()
    guard poll(&input, 1, 0) == 0, tcgetattr(writer, &modes) == 0 else { return }
    let isLine = modes.c_lflag & tcflag_t(ICANON) != 0
    guard isLine || alsoKeys else { return }
    // VEOF is 4 on Linux.
    var end = isLine ? modes.c_cc.4 : 4
    while write(reader, &end, 1) < 0, errno == EINTR {}
  }

  mutating func closeWriter() { Self.close(&writer) }

  mutating func close() {
    Self.close(&reader)
    Self.close(&writer)
  }

  private static func close(_ end: inout Int32) {
    if end >= 0 { _ = Foundation.close(end) }
    end = -1
  }

  /// The same descriptor with a number above 2, so that it isn't overwritten while a child's standard streams are set.
  ///
  /// -1 with errno on failure, and for a descriptor that is -1.
  static func aboveStandard(_ descriptor: Int32) -> Int32 {
    guard (0...2).contains(descriptor) else { return descriptor }
    let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    let failure = errno
    _ = Foundation.close(descriptor)
    errno = failure
    return moved
  }
}

/// The size of a pseudo-terminal, in characters.
public struct TerminalSize: Sendable, Equatable {
  /// The number of characters in a line, at least 1 and at most 65535.
  public let columns: Int
  /// The number of lines, at least 1 and at most 65535.
  public let rows: Int

  /// Creates a size; a number out of its range becomes the nearest one in it.
  public init(columns: Int, rows: Int) {
    self.columns = min(max(columns, 1), Int(UInt16.max))
    self.rows = min(max(rows, 1), Int(UInt16.max))
  }
}
