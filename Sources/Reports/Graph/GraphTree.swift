import JobModel
import Screen

/// The job graph as a tree: each job once, below one of the jobs that it needs.
///
/// The parent is the need at the end of the longest chain; with several needs, or a condition, the line names them.
/// Takes time and memory linear in jobs and needs, without recursion.
struct GraphTree {
  /// Jobs at this depth are roots of their own further down, so that no line is wider than its screen because of its place.
  static let depth = 20

  private let graph: JobGraph
  private let summary: JobSummary
  private let isASCII: Bool
  private let width: Int?
  /// The jobs below each job, in the order of the file.
  private var children: [[Int]]
  /// The jobs without needs.
  private var roots: [Int] = []

  /// `width` is the terminal's width; nil doesn't cut lines.
  init(_ graph: JobGraph, isASCII: Bool = false, width: Int? = nil) {
    self.graph = graph
    summary = JobSummary(graph)
    self.isASCII = isASCII
    self.width = width
    let needs = graph.jobs.map { $0.needs.map(\.job.index) }
    let level = Self.levels(needs)
    children = [[Int]](repeating: [], count: needs.count)
    for job in needs.indices {
      // Of several at the same level the last one, since the others stand above it as a rule.
      let parent = needs[job].max { level[$0] < level[$1] || (level[$0] == level[$1] && $0 < $1) }
      if let parent { children[parent].append(job) } else { roots.append(job) }
    }
  }

  /// The length of the longest chain of needs before each job.
  static func levels(_ needs: [[Int]]) -> [Int] {
    var levels = [Int](repeating: 0, count: needs.count)
    for job in DependencyOrder(needs).order {
      for need in needs[job] { levels[job] = max(levels[job], levels[need] + 1) }
    }
    return levels
  }

  private struct Step {
    var job: Int
    /// The prefix of its line, and of the lines below it.
    var prefix: String
    var indent: String
    var depth: Int
  }

  var text: String {
    let needs = graph.jobs.reduce(0) { $0 + $1.needs.count }
    let counts = "\(Format.count(graph.jobs.count, "job")), \(Format.count(needs, "need"))"
    var text = line("\(JobText.clean(graph.name)): \(counts)")
    // The next is the last.
    var open = roots.reversed().map { Step(job: $0, prefix: "", indent: "", depth: 0) }
    var (later, next): ([Int], Int) = ([], 0)
    while let step = open.popLast() {
      let below = children[step.job]
      let isCut = step.depth == Self.depth && !below.isEmpty
      text += line(step.prefix + row(step.job) + (isCut ? (isASCII ? "  (continued below)" : "  ↓") : ""))
      if isCut {
        later.append(step.job)
      } else {
        for (place, job) in below.enumerated().reversed() {
          let isLast = place == below.count - 1
          open.append(
            Step(
              job: job, prefix: step.indent + (isLast ? marks.last : marks.inner),
              indent: step.indent + (isLast ? "   " : marks.line), depth: step.depth + 1))
        }
      }
      if open.isEmpty, next < later.count {
        let job = later[next]
        next += 1
        open = children[job].reversed().map { Step(job: $0, prefix: marks.last, indent: "   ", depth: 1) }
        text += line("\(JobText.clean(graph.jobs[job].name)):")
      }
    }
    return text
  }

  private var marks: (inner: String, last: String, line: String) {
    isASCII ? ("|- ", "`- ", "|  ") : ("├─ ", "└─ ", "│  ")
  }

  private func row(_ index: Int) -> String {
    let job = graph.jobs[index]
    // The position shows a single need that must succeed.
    let isPlain = job.needs.count <= 1 && job.needs.allSatisfy { $0.when == .ok }
    return "\(JobText.clean(job.name))  \(job.work.kind)\(summary.notes(job, namesNeeds: !isPlain))"
  }

  private func line(_ text: String) -> String {
    (width.map { Elision(isASCII: isASCII).end(text, to: $0) } ?? text) + "\n"
  }
}
