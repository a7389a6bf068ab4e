import Foundation
import Support
import Testing

/// What a cat on the keyboard, a mouse that lies and a window that is pulled at do to the real program.
@Suite struct TerminalFuzzTests {
  @Test func randomInputBreaksNeitherTheScreenNorTheTerminal() throws {
    let place = try Workplace()
    let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/fuzz.yml")
    try FileManager.default.copyItem(at: fixture, to: place.folder.file("fuzz.yml"))
    let fuzz = try TerminalFuzz(seed: 20_261_121, header: "fuzz") { columns, rows in
      try place.pty(columns: columns, rows: rows, "run", "fuzz.yml", "--keep-open=always")
    } stop: { run in
      let cancelling = try place.run("cancel", run)
      #expect(cancelling.ending() == .exited(0), "\(cancelling.errorText)")
    }
    let outcome = try fuzz.run(inputs: 5000, stretch: 250)
    // One that a key has left is stopped when the line that names it is seen, and here if it was not.
    for row in try place.run("ps").outputLines.dropFirst() {
      if let run = row.split(separator: " ").first { _ = try place.run("cancel", String(run)) }
    }
    #expect(outcome.faults == [])
    #expect(outcome.inputs == 5000)
    #expect(outcome.repaints >= 5)
  }
}
