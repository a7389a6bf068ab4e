import Foundation
import OperationDashboard
import Testing

// The code of the article on watching a queue, word for word; `DocumentationTests` compares.

@Suite struct WatchingAQueueSnippets {
  @Test func aDelegatedQueueTellsOfEachEntry() {
    let queue = DelegatedOperationQueue()
    let dashboard = Dashboard(observing: queue)
    queue.addOperation { print("seen, however short") }
    queue.waitUntilAllOperationsAreFinished()
    withExtendedLifetime(dashboard) {}
  }

  @Test func aClosureMakesWhatCanBeRetried() {
    func setUp() {
      let dashboard = Dashboard(observing: OperationQueue())
      let url = URL(string: "http://127.0.0.1:8080/sdk.tar.gz")!
      let fetch = dashboard.add(retrying: { DownloadOperation(from: url, to: URL(filePath: "sdk.tar.gz")) })
      let unpack = BlockOperation {}
      unpack.addDependency(fetch)
      dashboard.add(unpack)
    }
    // Compiled, not run: there is no such server.
    let example: () -> Void = setUp
    _ = example
  }

  @Test func aProgramWithoutAScreenServesItsQueue() {
    func setUp() throws {
      let queue = OperationQueue()
      queue.name = "answers"
      let service = try Dashboard(observing: queue).serve()  // until it is stopped or released
      service.stop()
    }
    // Compiled, not run: its socket would be the user's.
    let example: () throws -> Void = setUp
    _ = example
  }
}
