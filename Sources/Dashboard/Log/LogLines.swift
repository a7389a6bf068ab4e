import JobModel

/// The lines that the log pane shows, oldest first: of one job, or of many jobs in the order of their events.
enum LogLines {
  case job(JobID, LogRing)
  case merged(MergedLog)

  enum Source: Equatable {
    case job(JobID)
    /// The number tells one collection of the lines from the next.
    case merged(Int)
  }

  var source: Source {
    switch self {
    case .job(let id, _): .job(id)
    case .merged(let log): .merged(log.collection)
    }
  }

  var isMerged: Bool { if case .merged = self { true } else { false } }

  /// The number of lines in memory.
  var count: Int {
    switch self {
    case .job(_, let ring): ring.count
    case .merged(let log): log.count
    }
  }

  var isEmpty: Bool { count == 0 }

  /// The number of lines that were ever written.
  var total: Int {
    switch self {
    case .job(_, let ring): ring.total
    case .merged(let log): log.total
    }
  }

  /// The number of lines that have left memory.
  var dropped: Int { total - count }

  /// 0 is the oldest in memory.
  subscript(position: Int) -> JobLine {
    switch self {
    case .job(let id, let ring): JobLine(job: id, entry: ring[position])
    case .merged(let log): log[position]
    }
  }

  var first: JobLine? { isEmpty ? nil : self[0] }
  var last: JobLine? { isEmpty ? nil : self[count - 1] }

  /// The position of the first line of the event `seq` or a later one; `count` if there is none.
  func position(of seq: Int) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].seq < seq { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The line of the event `seq`; nil once it has left memory.
  func line(_ seq: Int) -> JobLine? {
    let position = position(of: seq)
    guard position < count, self[position].seq == seq else { return nil }
    return self[position]
  }
}
