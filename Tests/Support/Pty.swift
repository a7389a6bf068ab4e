import Foundation

/// A program on a pseudo terminal, whose bytes the test reads and writes.
///
/// For tests of the bytes written, and of the loss of the terminal. To be used on one thread at a time.
package final class Pty {
  package let child: ChildProcess
  /// Everything written so far, as of the last `pump`.
  package private(set) var output: [UInt8] = []
  /// How the program ended, as of the last `pump`.
  package private(set) var ending: ChildProcess.Ending?
  private var master: Int32
  // Held open so that the modes can still be read when the program has gone.
  private let slave: Int32
  private let path: String
  /// The modes before the program was started, which may have changed them as soon as `init` returns.
  package let initialModeNumbers: [UInt32]

  package init(
    _ arguments: [String], environment: [String: String], columns: Int = 80, rows: Int = 24
  ) throws {
    let (master, path) = try Self.pair()
    _ = fcntl(master, F_SETFD, FD_CLOEXEC)
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    self.master = master
    self.path = path
    slave = Foundation.open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    Self.setSize(master, columns, rows)
    initialModeNumbers = Self.numbers(of: Self.modes(of: slave))
    child = try ChildProcess(arguments, environment: environment, terminal: path)
  }

  deinit {
    if ending == nil { child.stop() }
    hangUp()
    close(slave)
  }

  package var text: String { String(decoding: output, as: UTF8.self) }

  /// Reads new output, and whether the program has ended.
  package func pump() {
    checkEnding()
    var buffer = [UInt8](repeating: 0, count: 65536)
    while master >= 0 {
      let count = read(master, &buffer, buffer.count)
      guard count > 0 else { break }
      output += buffer.prefix(count)
    }
  }

  /// Whether the program has ended, without reading its output.
  @discardableResult
  package func checkEnding() -> ChildProcess.Ending? {
    if ending == nil { ending = child.ending() }
    return ending
  }

  /// Fills the terminal's buffer, so that whatever else is written waits until `pump`.
  package func clog() {
    let writer = Foundation.open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
    defer { close(writer) }
    let filling = [UInt8](repeating: 0x20, count: 4096)
    var ready = pollfd(fd: writer, events: Int16(POLLOUT), revents: 0)
    // The terminal moves what it has taken from one buffer to another, which makes room again.
    repeat { while write(writer, filling, filling.count) > 0 {} } while poll(&ready, 1, 100) > 0
  }

  /// Reads the output until the program has ended; returns how, nil if it does not end.
  package func end() -> ChildProcess.Ending? {
    _ = waitUntil { $0.ending != nil }
    return ending
  }

  /// What is left on the screen, and what each thread of a program that has not ended waits for.
  package var report: String {
    let lines = ["\(String(describing: checkEnding()))", String(text.suffix(300)).debugDescription]
    return (lines + (ending == nil ? [ProcessTable.report(of: program)] : [])).joined(separator: "\n")
  }

  /// The process that executes the command, which is `child` or behind it.
  package var program: pid_t { ProcessTable.program(of: child.pid) }

  /// The output since the last `take`.
  package func take() -> [UInt8] {
    pump()
    defer { output = [] }
    return output
  }

  /// Waits for output or the end of the program; returns whether there is output.
  package func waitForOutput(within bound: Double) -> Bool {
    var ready = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    return poll(&ready, 1, Int32(bound * 1000)) > 0
  }

  /// Types as many bytes as the terminal accepts and returns their number.
  package func offer(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.withUnsafeBytes { max(0, write(master, $0.baseAddress, $0.count)) }
  }

  package func send(_ text: String) { send(Array(text.utf8)) }

  package func send(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { write(master, $0.baseAddress, $0.count) } }

  package func resize(columns: Int, rows: Int) { Self.setSize(master, columns, rows) }

  /// Closes the terminal.
  package func hangUp() {
    guard master >= 0 else { return }
    close(master)
    master = -1
  }

  /// The number of typed bytes that a program in raw mode has not read.
  package var waiting: Int {
    var count: Int32 = 0
    return ioctl(slave, UInt(FIONREAD), &count) == 0 ? Int(count) : -1
  }

  /// The number of typed bytes that the program has left to the shell; changes the modes of the terminal.
  ///
  /// A program that has not ended would find changed modes, or restore them at the same time.
  package var leftToShell: Int {
    guard ending != nil else { return -1 }
    // A line that is not ended counts only for who reads as it is typed.
    var own = modes
    own.c_lflag &= ~tcflag_t(ICANON)
    tcsetattr(slave, TCSANOW, &own)
    return waiting
  }

  /// The process group that a signal of a key goes to; 0 if there is none.
  package var foregroundGroup: pid_t { max(0, tcgetpgrp(master)) }

  /// The modes as `stty -g` prints them, to be compared.
  package var modeNumbers: [UInt32] { Self.numbers(of: modes) }

  private static func numbers(of modes: termios) -> [UInt32] {
    let characters = withUnsafeBytes(of: modes.c_cc) { $0.map { UInt32($0) } }
    let flags = [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
    return flags.map { UInt32(truncatingIfNeeded: $0) } + characters
  }

  /// The private modes (DECSET) that the program has set and not reset, and the cursor's if it is hidden.
  package var leftModes: Set<Int> {
    var left: Set<Int> = []
    for match in text.matches(of: /\u{1B}\[\?([0-9;]+)([hl])/) {
      for number in match.output.1.split(separator: ";").compactMap({ Int($0) }) {
        // The cursor (25) and wrapping (7) are on by default.
        let isDefault = (match.output.2 == "h") == [7, 25].contains(number)
        if isDefault { left.remove(number) } else { left.insert(number) }
      }
    }
    return left
  }

  package var modes: termios { Self.modes(of: slave) }

  private static func modes(of descriptor: Int32) -> termios {
    var modes = termios()
    tcgetattr(descriptor, &modes)
    return modes
  }

  /// Pumps until `condition` holds.
  package func waitUntil(_ condition: (Pty) -> Bool) -> Bool {
    eventually {
      pump()
      return condition(self)
    }
  }

  private static func pair() throws -> (master: Int32, path: String) {
    // Glibc shows posix_openpt and its kin only to programs that ask for X/Open: what they do, then.
    let master = Foundation.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var unlock: Int32 = 0
    var number: Int32 = 0
    if ioctl(master, 0x4004_5431, &unlock) == 0, ioctl(master, 0x8004_5430, &number) == 0 {
      return (master, "/dev/pts/\(number)")
    }
    throw ChildProcess.Failure(description: "no terminal: \(String(cString: strerror(errno)))")
  }

  private static func setSize(_ descriptor: Int32, _ columns: Int, _ rows: Int) {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
  }
}
