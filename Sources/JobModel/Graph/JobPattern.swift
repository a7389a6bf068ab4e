import Basics

/// A text with wildcards: `*` for any characters and `?` for one.
///
/// Brackets stand for themselves, because they are part of the names of instances.
package struct JobPattern: Sendable {
  private let parts: [Unicode.Scalar]

  /// Nil for text without wildcards.
  package init?(_ text: String) {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }) else { return nil }
    parts = Array(text.unicodeScalars)
  }

  /// The text before the first wildcard, with which every match begins.
  package var prefix: String {
    var prefix = String.UnicodeScalarView()
    prefix.append(contentsOf: parts.prefix { $0 != "*" && $0 != "?" })
    return String(prefix)
  }

  package func matches(_ name: String) -> Bool {
    matchesWildcards(parts, name.unicodeScalars, isStar: { $0 == "*" }, takes: { $0 == "?" || $0 == $1 })
  }
}

/// Finds jobs by name, by the name of their matrix, and by patterns.
package struct JobNameIndex: Sendable {
  private let names: [String]
  private var jobs: [String: Int] = [:]
  private var instances: [String: [Int]] = [:]
  /// The jobs in the order of the bytes of their names, so that those with the same prefix are neighbours.
  private lazy var sorted = names.indices.sorted { names[$0].utf8.lexicographicallyPrecedes(names[$1].utf8) }
  private var found: [String: [Int]] = [:]
  /// How many names have been compared with patterns.
  package private(set) var comparisons = 0

  /// Each job's name with the name of its matrix; of equal names, the first counts.
  package init(_ list: [(name: String, matrix: String?)]) {
    names = list.map(\.name)
    jobs.reserveCapacity(list.count)
    for (number, (name, matrix)) in list.enumerated() {
      if let first = jobs.updateValue(number, forKey: name) { jobs[name] = first }
      if let matrix { instances[matrix, default: []].append(number) }
    }
  }

  /// The job of exactly this name.
  package func job(named name: String) -> Int? { jobs[name] }

  /// The instances of a job that has a matrix.
  package func instances(of name: String) -> [Int]? { instances[name] }

  /// The jobs that a pattern matches, in their order; empty for text without wildcards.
  package mutating func jobs(matching text: String) -> [Int] {
    if let known = found[text] { return known }
    guard let pattern = JobPattern(text) else { return [] }
    let prefix = pattern.prefix.utf8
    let (names, sorted) = (names, sorted)
    var low = sorted.partitioningIndex { !names[$0].utf8.lexicographicallyPrecedes(prefix) }
    var matches: [Int] = []
    while low < sorted.count, names[sorted[low]].utf8.starts(with: prefix) {
      if pattern.matches(names[sorted[low]]) { matches.append(sorted[low]) }
      comparisons += 1
      low += 1
    }
    matches.sort()
    found[text] = matches
    return matches
  }
}

extension JobGraph {
  /// The job of this name, else the instances of the job of this name, else the jobs that it matches as a pattern with `*` and
  /// `?`; empty if there are none.
  package func jobs(matching text: String) -> [JobID] {
    var index = JobNameIndex(jobs.map { ($0.name, $0.matrix) })
    let found = index.job(named: text).map { [$0] } ?? index.instances(of: text) ?? index.jobs(matching: text)
    return found.map(JobID.init)
  }
}
