import Basics
import JobModel

struct JobLine {
  /// Nil for a line of the program itself.
  var job: JobID?
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

  /// The jobs whose lines are merged: the tagged ones or, without tags, the ones that the filter admits.
  struct Scope: Equatable {
    let tags: Set<JobID>
    let filter: JobFilter

    /// Whether the program's own lines are among them: neither tags nor a filter choose jobs.
    var hasProgram: Bool { tags.isEmpty && filter.isEmpty }
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
  /// The events of the unfinished lines.
  private var unfinished: [Origin: Int] = [:]

  /// Where a line is from: at most one of an origin is unfinished.
  private struct Origin: Hashable {
    let job: JobID?
    let stream: LogLine.Stream
  }

  /// Takes time linear in the jobs, and logarithmic for each line that is kept.
  init(_ scope: Scope, collection: Int, _ run: Run, admits: (JobID) -> Bool) {
    self.scope = scope
    self.collection = collection
    isMember = run.ids.map(admits)
    var newest = Heap<LineSource>()
    // Later jobs usually have newer lines: added first, they keep the heap's order.
    for id in run.ids.reversed() where isMember[id.index] {
      let ring = run.jobs[id.index].log
      jobs += 1
      total += ring.total
      if ring.count > 0 { newest.push(LineSource(job: id, ring: ring, position: ring.count - 1)) }
    }
    if scope.hasProgram, !run.programLog.isEmpty {
      total += run.programLog.total
      newest.push(LineSource(job: nil, ring: run.programLog, position: run.programLog.count - 1))
    }
    while lines.count < Self.capacity, bytes < Self.byteCapacity, var source = newest.pop() {
      lines.append(source.line)
      bytes += source.line.entry.line.text.utf8.count
      source.position -= 1
      if source.position >= 0 { newest.push(source) }
    }
    lines.reverse()
    for line in lines where line.entry.line.isUnfinished {
      unfinished[Origin(job: line.job, stream: line.entry.line.stream)] = line.seq
    }
  }

  var count: Int { lines.count - head }

  subscript(position: Int) -> JobLine { lines[head + position] }

  func holds(_ id: JobID) -> Bool { id.index < isMember.count && isMember[id.index] }

  /// Adds a line of one of the jobs, or of the program, or removes an erased one, as the job's ring has done; call in the order of the events.
  mutating func append(_ line: LogLine, of job: JobID?, in ring: LogRing) {
    let origin = Origin(job: job, stream: line.stream)
    let old = unfinished.isEmpty ? nil : unfinished.removeValue(forKey: origin).flatMap { place(of: $0) }
    guard !line.isErased, let entry = ring.last else {
      if let old { remove(at: old) }
      return
    }
    let new = JobLine(job: job, entry: entry)
    if line.isUnfinished { unfinished[origin] = new.seq }
    if let old, lines[old].seq == new.seq {
      bytes += line.text.utf8.count - lines[old].entry.line.text.utf8.count
      lines[old] = new
      return
    }
    if let old { remove(at: old) }
    // One that is completed in its place may have left memory here.
    if count == 0 || new.seq > lines[lines.count - 1].seq { append(new) }
  }

  private func place(of seq: Int) -> Int? {
    lines[head...].lastIndex { $0.seq <= seq }.flatMap { lines[$0].seq == seq ? $0 : nil }
  }

  private mutating func remove(at place: Int) {
    bytes -= lines.remove(at: place).entry.line.text.utf8.count
    total -= 1
  }

  private mutating func append(_ line: JobLine) {
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

/// A ring and the position of its next line; rings with newer lines come first.
private struct LineSource: Comparable {
  let job: JobID?
  let ring: LogRing
  var position: Int
  var line: JobLine { JobLine(job: job, entry: ring[position]) }

  static func < (left: LineSource, right: LineSource) -> Bool { left.line.seq > right.line.seq }
  static func == (left: LineSource, right: LineSource) -> Bool { left.line.seq == right.line.seq }
}
