import JobModel

/// The numbers of a run for the closing lines.
struct Tally {
  /// From the first event to the last.
  private let time: Duration
  private let records: [JobRecord]

  init(_ run: Run) {
    time = run.length
    records = run.jobs
  }

  var lasted: String { Self.seconds(time) }

  /// The sum of all execution times.
  var oneByOne: String { Self.seconds(records.reduce(.zero) { $0 + $1.spent(.executing, until: $1.since) }) }

  /// The largest number of simultaneous attempts.
  var widest: Int {
    var edges: [(at: Duration, change: Int)] = []
    for attempt in records.flatMap(\.attempts) {
      edges.append((attempt.startedAt, 1))
      edges.append((attempt.endedAt ?? time, -1))
    }
    // At the same instant an end precedes a start.
    edges.sort { ($0.at, $0.change) < ($1.at, $1.change) }
    var now = 0
    return edges.reduce(0) { most, edge in
      now += edge.change
      return max(most, now)
    }
  }

  /// Names of the jobs that succeeded after a failure, in the graph's order.
  var recovered: [String] { records.filter { $0.state.isOK && !$0.state.isFailure && $0.retries > 0 }.map(\.job.name) }

  /// Attempts that failed and were followed by another.
  var retries: Int { records.reduce(0) { $0 + $1.retries } }

  /// The causes of failed attempts, most frequent first: `the network (3), HTTP 503 (2)`.
  var failures: String {
    var counts: [String: Int] = [:]
    for failure in records.flatMap(\.attempts).compactMap(\.failure) { counts[failure.cause.words, default: 0] += 1 }
    let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return sorted.map { "\($0.key) (\($0.value))" }.joined(separator: ", ")
  }

  func bytes(_ kind: String) -> String { Self.bytes(moved(kind)) }

  /// The number of downloads with a verified checksum.
  var proven: Int {
    records.count { record in
      guard case .download(let download) = record.job.work else { return false }
      return download.sha256 != nil && record.state == .succeeded(upToDate: false)
    }
  }

  /// The number of jobs of a kind that succeeded.
  func succeeded(_ kind: String) -> Int {
    records.count { $0.job.work.kind == kind && $0.state == .succeeded(upToDate: false) }
  }

  private func moved(_ kind: String) -> Int64 {
    records.reduce(0) { sum, record in
      guard record.job.work.kind == kind, let progress = record.progress, progress.unit == .bytes else { return sum }
      return sum + progress.done
    }
  }

  static func seconds(_ time: Duration) -> String {
    let tenths = Int((time / .milliseconds(100)).rounded())
    return tenths < 600 ? "\(tenths / 10).\(tenths % 10) s" : "\(tenths / 600) min \(tenths / 10 % 60) s"
  }

  static func bytes(_ count: Int64) -> String {
    for (unit, size) in [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)] where count >= size {
      let tenths = (Double(count) / Double(size) * 10).rounded()
      return "\(Int(tenths) / 10).\(Int(tenths) % 10) \(unit)"
    }
    return "\(count) B"
  }
}

extension JobRecord {
  fileprivate var retries: Int { max(0, attempts.count - 1) }
}

extension JobFailure.Cause {
  fileprivate var words: String {
    switch self {
    case .exit(let code): "exit \(code)"
    case .signal(let number): "signal \(number)"
    case .launch: "a command that could not start"
    case .http(let status): "HTTP \(status)"
    case .network: "the network"
    case .timedOut: "the time limit"
    case .checksum: "a wrong checksum"
    case .file: "a file"
    case .simulated: "chance"
    case .approval: "a missing approval"
    case .outOfMemory: "too little memory"
    case .timeLimit: "the time limit of the cluster"
    case .nodeFailure: "a lost node"
    case .preempted: "a more urgent job of the cluster"
    case .lost: "an unknown end"
    case .error: "an error of their own"
    }
  }
}
