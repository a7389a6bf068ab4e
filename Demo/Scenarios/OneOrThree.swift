import Foundation
import JobModel
import OperationDashboard

/// The same three downloads, one at a time and three at once.
enum OneOrThree {
  private static let size = 1_200_000
  private static let rate = 1_000_000

  static func perform(base: String, folder: URL) throws -> Performance {
    let queue = Performance.queue("one-or-three", width: 1)
    let diary = Diary()
    let alone = try downloads("alone", base, folder)
    let together = try downloads("together", base, folder)
    let widen = Stint("widen", lasts: .milliseconds(300), steps: 1, diary: diary) { widen in
      queue.maxConcurrentOperationCount = 3
      widen.log("maxConcurrentOperationCount = 3")
    }
    for download in alone { widen.addDependency(download) }
    for download in together { download.addDependency(widen) }
    let feed = QueueFeed(observing: queue)
    try feed.add(alone + [widen] + together)
    return Performance(feed) { run in
      let (one, three) = (Batch(run, "alone"), Batch(run, "together"))
      let times = Int((one.length / max(three.length, .milliseconds(1)) * 10).rounded())
      return [
        "one-or-three: the same three downloads of \(Tally.bytes(Int64(size))), from a server that gives each \(Tally.bytes(Int64(rate))) a second.",
        "  maxConcurrentOperationCount = 1: \(one.words).",
        "  maxConcurrentOperationCount = 3: \(three.words).",
        "  Three at once were \(times / 10).\(times % 10) times as fast as one after another.",
      ]
    }
  }

  private static func downloads(_ name: String, _ base: String, _ folder: URL) throws -> [DownloadOperation] {
    try (1...3).map { number in
      let address = "\(base)/file/\(name)-\(number)?size=\(size)&seed=\(number)&rate=\(rate)"
      guard let url = URL(string: address) else { throw URLError(.badURL) }
      let download = DownloadOperation(from: url, to: folder.appending(path: "\(name)-\(number)"))
      download.name = "\(name)-\(number)"
      return download
    }
  }

  /// The downloads of one name, from the first start to the last end.
  private struct Batch {
    let length: Duration
    let widest: Int
    let bytes: Int64

    init(_ run: Run, _ prefix: String) {
      let records = run.jobs.filter { $0.job.name.hasPrefix(prefix) }
      let attempts = records.flatMap(\.attempts)
      let ends = attempts.compactMap(\.endedAt)
      length = (ends.max() ?? .zero) - (attempts.map(\.startedAt).min() ?? .zero)
      widest =
        attempts.map { one in
          attempts.count { $0.startedAt <= one.startedAt && one.startedAt < $0.endedAt ?? run.length }
        }.max() ?? 0
      bytes = records.reduce(0) { $0 + ($1.progress?.done ?? 0) }
    }

    var words: String { "\(Tally.bytes(bytes)) in \(Diary.seconds(length)), never more than \(widest) at once" }
  }
}
