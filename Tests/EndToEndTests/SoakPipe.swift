import Foundation
import Support

/// A program off a terminal, whose output is a pipe that may be closed, and whose messages are a file.
final class SoakPipe {
  let child: ChildProcess
  private(set) var output: [UInt8] = []
  private(set) var ending: ChildProcess.Ending?
  private var reader: Int32

  init(_ folder: TemporaryFolder, _ command: [String], _ environment: [String: String]) throws {
    let path = folder.file("output").path
    guard mkfifo(path, 0o600) == 0 else { throw ChildProcess.Failure(description: "no pipe: \(path)") }
    // A FIFO, because the ends of a pipe could be inherited by a program that another thread starts.
    reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    let descriptors = [
      open("/dev/null", O_RDONLY | O_CLOEXEC), open(path, O_WRONLY | O_CLOEXEC),
      open(folder.file("errors").path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600),
    ]
    defer { for descriptor in descriptors { close(descriptor) } }
    child = try ChildProcess(command, environment: environment, descriptors: descriptors)
  }

  deinit {
    if ending == nil { child.stop() }
    closeReader()
  }

  func look(isReading: Bool) {
    if ending == nil { ending = child.ending() }
    guard isReading, reader >= 0 else { return }
    var buffer = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(reader, &buffer, buffer.count)
      guard count > 0 else { return }
      output += buffer.prefix(count)
    }
  }

  func closeReader() {
    if reader >= 0 { close(reader) }
    reader = -1
  }
}
