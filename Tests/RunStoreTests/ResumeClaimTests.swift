import Foundation
import Support
import Testing

@testable import RunStore

/// One process at a time goes on with a run.
@Suite struct ResumeClaimTests {
  private func entry(_ folder: String?) -> RunEntry {
    RunEntry(
      id: "1", name: "n", origin: RunOrigin(command: "run", directory: "/", slots: 1, onFailure: "keep-going"),
      startedAt: Date(), jobs: 1, process: .current, folder: folder)
  }

  @Test func aRunIsTakenOnceEvenIfItHasNoOutput() throws {
    let folder = try TemporaryFolder()
    let run = entry(folder.file("runs/1").path)
    #expect(ResumeClaim.take(run))
    #expect(!ResumeClaim.take(run))
    #expect(ResumeClaim.take(entry(folder.file("runs/2").path)))
  }

  @Test func aRunWithoutAFolderIsNotHeldUp() {
    #expect(ResumeClaim.take(entry(nil)) && ResumeClaim.take(entry(nil)))
    #expect(ResumeClaim.take(entry("/proc/none/1")) && ResumeClaim.take(entry("/proc/none/1")))
  }
}
