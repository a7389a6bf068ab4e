import Basics
import JobModel

/// The lines that the log pane shows, oldest first: of one job, of the program, or of many jobs in the order of their events.
struct LogLines {
  enum Source: Equatable {
    case job(JobID)
    case program
    /// The number tells one collection of the lines from the next.
    case merged(Int)
  }

  let source: Source
  let count: Int
  /// The number of lines that were ever written.
  let total: Int
  private let line: (Int) -> JobLine

  init(_ job: JobID, _ ring: LogRing) {
    (source, count, total) = (.job(job), ring.count, ring.total)
    line = { JobLine(job: job, entry: ring[$0]) }
  }

  init(program ring: LogRing) {
    (source, count, total) = (.program, ring.count, ring.total)
    line = { JobLine(job: nil, entry: ring[$0]) }
  }

  init(_ log: MergedLog) {
    (source, count, total) = (.merged(log.collection), log.count, log.total)
    line = { log[$0] }
  }

  var isMerged: Bool { if case .merged = source { true } else { false } }
  var isEmpty: Bool { count == 0 }

  /// The number of lines that have left memory.
  var dropped: Int { total - count }

  /// 0 is the oldest in memory.
  subscript(position: Int) -> JobLine { line(position) }

  var first: JobLine? { isEmpty ? nil : self[0] }
  var last: JobLine? { isEmpty ? nil : self[count - 1] }

  /// The position of the first line of the event `seq` or a later one; `count` if there is none.
  func position(of seq: Int) -> Int { (0..<count).partitioningIndex { self[$0].seq >= seq } }

  /// The number of the event of the line at `position`, or of the last line before it; nil without a line.
  func seq(at position: Int) -> Int? { isEmpty ? nil : self[min(position, count - 1)].seq }

  /// The line of the event `seq`; nil once it has left memory.
  func line(_ seq: Int) -> JobLine? {
    let position = position(of: seq)
    guard position < count, self[position].seq == seq else { return nil }
    return self[position]
  }
}
