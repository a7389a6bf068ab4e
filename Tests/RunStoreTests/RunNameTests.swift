import Foundation
import JobModel
import RunStore
import Support
import Testing

struct RunNameTests {
  private let folder: TemporaryFolder
  private let store: RunStore
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    let state = folder.file("state").path()
    path = state + "/opdash.db"
    for (index, id) in ["20260101-101010-12", "20260101-101010-123", "20260203-111111-7"].enumerated() {
      let feed = FakeFeed()
      let file = index == 0 ? nil : "/w/opdash.yml"
      let recorder = RunRecorder(
        folder: state,
        origin: RunOrigin(command: "run", file: file, directory: "/", slots: 1, onFailure: "keep-going"))
      recorder.start(feed)
      feed.begin(1, run: id)
      feed.post(.runFinished(RunSummary(of: feed.run)))
      #expect(recorder.finish(within: .patience))
    }
    store = try RunStore(folder: state)
  }

  @Test func aRunIsFoundByItsNameOrItsOnlyBeginning() throws {
    #expect(try store.run(named: "20260101-101010-12").id == "20260101-101010-12")
    #expect(try store.run(named: "202602").id == "20260203-111111-7")
    #expect(try store.run(named: "last").id == "20260203-111111-7")
  }

  @Test func anUnknownRunNamesTheNearest() {
    #expect(throws: RunStoreError(.unknownRun("20260203-111112-7", nearest: "20260203-111111-7"), path)) {
      try store.run(named: "20260203-111112-7")
    }
    #expect(throws: RunStoreError(.unknownRun("%", nearest: nil), path)) { try store.run(named: "%") }
  }

  @Test func aBeginningOfSeveralRunsNamesThem() {
    let runs = ["20260101-101010-123", "20260101-101010-12"]
    #expect(throws: RunStoreError(.ambiguousRun("20260101", runs), path)) { try store.run(named: "20260101") }
  }

  @Test func theRunsOfAJobFileAreTold() throws {
    #expect(try store.lastRuns(ofFile: "/w/opdash.yml").map(\.id) == ["20260203-111111-7", "20260101-101010-123"])
    #expect(try store.lastRuns(ofFile: nil).map(\.id) == ["20260101-101010-12"])
    #expect(try store.runs(1).map(\.id) == ["20260203-111111-7"])
  }
}
