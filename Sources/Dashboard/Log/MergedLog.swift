import Basics
import JobModel

/// A line of output and the job that wrote it.
struct JobLine {
  var job: JobID
  var entry: LogRing.Entry

  /// The number of the line's event: it stays the same when older lines leave memory and when logs are merged.
  var seq: Int { entry.seq }
}

/// The newest lines of many jobs in the order of their events.
///
/// The lines are collected once from the jobs' rings, then appended one by one; memory is bounded for any number of jobs.
struct MergedLog {
  static let capacity = 4000
  static let byteCapacity = 1 << 20

  /// The jobs whose lines are merged.
  enum Scope: Equatable {
    case all
    case filter(JobFilter)
    case tags(Set<JobID>)
  }

  let scope: Scope
  let collection: Int
  /// The number of jobs in the scope.
  private(set) var jobs = 0
  /// The number of lines that these jobs have written.
  private(set) var total = 0

  private var isMember: [Bool]
  /// Elements before `head` are empty; they are removed in bulk, so that the cost of a line is constant.
  private var lines: [JobLine] = []
  private var head = 0
  private var bytes = 0

  /// Takes time linear in the jobs, and logarithmic for each line that is kept.
  init(_ scope: Scope, collection: Int, _ run: Run, admits: (JobID) -> Bool) {
    self.scope = scope
    self.collection = collection
    isMember = run.ids.map(admits)
    var newest = NewestLines()
    // Later jobs usually have newer lines: added first, they keep the heap's order.
    for id in run.ids.reversed() where isMember[id.index] {
      jobs += 1
      total += run.jobs[id.index].log.total
      newest.add(id, run.jobs[id.index].log)
    }
    while lines.count < Self.capacity, bytes < Self.byteCapacity, let line = newest.next() {
      lines.append(line)
      bytes += line.entry.line.text.utf8.count
    }
    lines.reverse()
  }

  var count: Int { lines.count - head }

  subscript(position: Int) -> JobLine { lines[head + position] }

  func holds(_ id: JobID) -> Bool { id.index < isMember.count && isMember[id.index] }

  /// Adds a line of one of the jobs; call in the order of the events.
  mutating func append(_ line: JobLine) {
    lines.append(line)
    total += 1
    bytes += line.entry.line.text.utf8.count
    while count > Self.capacity || (bytes > Self.byteCapacity && count > 1) {
      bytes -= lines[head].entry.line.text.utf8.count
      lines[head].entry.line.text = ""
      head += 1
    }
    guard head > Self.capacity / 2 else { return }
    lines.removeFirst(head)
    head = 0
  }
}

/// The lines of several rings, newest first.
private struct NewestLines {
  /// A ring and the position of its next line; rings with newer lines come first.
  private struct Source: Comparable {
    var job: JobID
    var ring: LogRing
    var position: Int
    var seq: Int

    init?(_ job: JobID, _ ring: LogRing, position: Int) {
      guard position >= 0 else { return nil }
      (self.job, self.ring, self.position, seq) = (job, ring, position, ring[position].seq)
    }

    static func < (left: Source, right: Source) -> Bool { left.seq > right.seq }
    static func == (left: Source, right: Source) -> Bool { left.seq == right.seq }
  }

  private var sources = Heap<Source>()

  mutating func add(_ job: JobID, _ ring: LogRing) {
    if let source = Source(job, ring, position: ring.count - 1) { sources.push(source) }
  }

  mutating func next() -> JobLine? {
    guard let source = sources.pop() else { return nil }
    if let rest = Source(source.job, source.ring, position: source.position - 1) { sources.push(rest) }
    return JobLine(job: source.job, entry: source.ring[source.position])
  }
}
