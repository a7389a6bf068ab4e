import Foundation
import Support
import Testing

@testable import Processes

@Suite struct ProcessInputTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [
    ("/no/such/file", "/no/such/file can't be read: No such file or directory"),
    ("", "make: the standard input can't be read: No such file or directory"),
    ("a\0b", "a\0b can't be read: Invalid argument"),
  ])
  func anInputThatCannotBeReadIsNamed(path: String, text: String) {
    #expect(throws: ProcessError(.inputUnusable, text)) {
      try ProcessInput.file(path).withDescriptor(null: -7, of: "make") { _ throws(ProcessError) in }
    }
  }

  @Test func anInputIsADescriptorAtItsBeginning() throws {
    func content(_ input: ProcessInput) throws -> String {
      try input.withDescriptor(null: -7, of: "make") { descriptor throws(ProcessError) in
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = read(descriptor, &bytes, bytes.count)
        return count < 0 ? "descriptor \(descriptor)" : String(decoding: bytes.prefix(count), as: UTF8.self)
      }
    }
    #expect(try content(.none) == "descriptor -7")
    #expect(try content(.string("héllo")) == "héllo")
    #expect(try content(.bytes([])) == "")
    try Data("from a file".utf8).write(to: folder.file("input"))
    #expect(try content(.file(folder.file("input").path())) == "from a file")
  }

  @Test func aTerminalThatIsReadDoesNotBecomeTheControllingTerminal() async {
    await #expect(processExitsWith: .success) {
      #expect(setsid() > 0)
      var terminal = OutputPipe()
      #expect(terminal.openTerminal(TerminalSize(columns: 80, rows: 24)) == 0)
      let path = "/proc/self/fd/\(terminal.writer)"
      try ProcessInput.file(path).withDescriptor(null: -7, of: "cat") { _ throws(ProcessError) in }
      #expect(open("/dev/tty", O_RDONLY | O_NOCTTY) < 0)
    }
  }

  /// The descriptor is copied to the standard input of its program only.
  @Test func noOtherProgramInheritsAnInput() throws {
    try Data("a".utf8).write(to: folder.file("input"))
    for input in [.string("a"), .bytes([1]), .file(folder.file("input").path())] as [ProcessInput] {
      let flags = try input.withDescriptor(null: -7, of: "make") { descriptor throws(ProcessError) in
        fcntl(descriptor, F_GETFD)
      }
      #expect(flags == FD_CLOEXEC, "\(input)")
    }
  }
}
