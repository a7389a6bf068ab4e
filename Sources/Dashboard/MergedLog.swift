import JobModel

/// The newest lines of many jobs in the order they came.
///
/// It is gathered once from the jobs' own rings, then takes line by line what comes; its memory is bounded whatever
/// the number of jobs.
struct MergedLog {
  static let capacity = 4000
  static let byteCapacity = 1 << 20

  /// Whose lines they are.
  enum Scope: Equatable {
    case all
    case filter(JobFilter)
    case tags(Set<JobID>)
  }

  let scope: Scope
  let gathering: Int
  /// How many jobs the scope holds.
  private(set) var jobs = 0
  /// How many lines those jobs have written.
  private(set) var total = 0

  private var isMember: [Bool]
  /// Places before `head` are empty; they go in bulk, so that a line costs a constant.
  private var lines: [JobLine] = []
  private var head = 0
  private var bytes = 0

  /// Takes time linear in the jobs, and little more for each line that is kept.
  init(_ scope: Scope, gathering: Int, _ run: Run, admits: (JobID) -> Bool) {
    self.scope = scope
    self.gathering = gathering
    isMember = run.ids.map(admits)
    var newest = NewestLines()
    for id in run.ids where isMember[id.index] {
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

  /// A line that one of the jobs has written; to be called in the order of the facts.
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

/// The lines of several rings, the newest first: a heap of the rings by their newest line that is still to come.
private struct NewestLines {
  private struct Source {
    var job: JobID
    var ring: LogRing
    /// The position of its next line.
    var position: Int
    var seq: Int
  }

  private var heap: [Source] = []
  private var isHeap = false

  mutating func add(_ job: JobID, _ ring: LogRing) {
    guard !ring.isEmpty else { return }
    heap.append(Source(job: job, ring: ring, position: ring.count - 1, seq: ring[ring.count - 1].seq))
  }

  mutating func next() -> JobLine? {
    if !isHeap {
      for place in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(place) }
      isHeap = true
    }
    guard let top = heap.first else { return nil }
    let entry = top.ring[top.position]
    if top.position > 0 {
      heap[0].position -= 1
      heap[0].seq = top.ring[top.position - 1].seq
    } else if let last = heap.popLast(), !heap.isEmpty {
      heap[0] = last
    }
    sink(0)
    return JobLine(job: top.job, entry: entry)
  }

  private mutating func sink(_ place: Int) {
    var place = place
    while true {
      var newest = place
      for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child].seq > heap[newest].seq {
        newest = child
      }
      guard newest != place else { return }
      heap.swapAt(place, newest)
      place = newest
    }
  }
}
