import JobModel

/// A line of output and the job that wrote it.
struct JobLine {
  var job: JobID
  var entry: LogRing.Entry

  /// What the line is known by: it stays the same when older lines leave and when logs are merged.
  var seq: Int { entry.seq }
}

/// The lines that the log pane shows, the oldest first: one job's, or those of many jobs in the order they came.
enum LogLines {
  case job(JobID, LogRing)
  case merged(MergedLog)

  enum Source: Equatable {
    case job(JobID)
    /// The number tells one gathering of the lines from the next.
    case merged(Int)
  }

  var source: Source {
    switch self {
    case .job(let id, _): .job(id)
    case .merged(let log): .merged(log.gathering)
    }
  }

  var isMerged: Bool { if case .merged = self { true } else { false } }

  /// How many are in memory.
  var count: Int {
    switch self {
    case .job(_, let ring): ring.count
    case .merged(let log): log.count
    }
  }

  var isEmpty: Bool { count == 0 }

  /// How many there ever were.
  var total: Int {
    switch self {
    case .job(_, let ring): ring.total
    case .merged(let log): log.total
    }
  }

  /// How many have left memory.
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

  /// The position of the first line that came with the fact `seq` or later; `count` when none did.
  func position(of seq: Int) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].seq < seq { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The line of the fact `seq`; nil once it has left memory.
  func line(_ seq: Int) -> JobLine? {
    let position = position(of: seq)
    guard position < count, self[position].seq == seq else { return nil }
    return self[position]
  }
}
