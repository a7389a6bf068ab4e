import Basics
import JobModel

extension ValueKind<[Need]> {
  static let needs = ValueKind(
    .either([.oneOrMore(.text), .map(of: .choice(JobNeed.Condition.self))])
  ) { values, node, _ in NeedReader(values: values).read(node) }
}

/// Reads `needs`: a list of jobs, a single job, or a map of jobs to conditions.
private struct NeedReader {
  let values: ValueReader

  private var faults: FaultLog { values.faults }

  func read(_ node: YAMLNode) -> [Need] {
    if case .map(let entries) = node.content {
      return entries.compactMap { entry in
        let key = YAMLNode(
          content: .scalar(entry.key, isPlain: true), place: entry.place, end: entry.value.place)
        guard let name = expanded(entry.key, in: key), let when = condition(entry, name) else { return nil }
        return Need(job: name, when: when, place: entry.place)
      }
    }
    let items = values.list(node, "needs", takes: Self.takes, isSingleAllowed: true) ?? []
    var needs: [Need] = []
    var names = FirstPositions()
    needs.reserveCapacity(items.count)
    for item in items {
      guard case .scalar(let text, _) = item.content, !item.isNull else {
        faults.add(item.place, "needs takes \(Self.takes); this item is \(item.words): write a job's name")
        continue
      }
      guard let name = expanded(text, in: item) else { continue }
      if names.position(of: name, in: needs, by: \.job) == nil {
        needs.append(Need(job: name, when: .ok, place: item.place))
      } else {
        faults.add(item.place, Self.twice(name))
      }
    }
    return needs
  }

  private static let takes = "a list of jobs, or a map of jobs to \(words)"

  static func twice(_ name: String) -> String { "needs names \(Quoted.text(name)) twice: delete one" }

  private static let words = JobNeed.Condition.allCases.map(\.rawValue).joined(last: "or")

  private func expanded(_ name: String, in node: YAMLNode) -> String? {
    values.variables.expand(name, in: node, unknown: .isFault)
  }

  private func condition(_ entry: YAMLEntry, _ job: String) -> JobNeed.Condition? {
    let name = "needs.\(Quoted.bare(job))"
    // Compose writes a map: `api: { condition: service_healthy }`.
    if case .map(let parts) = entry.value.content, let part = parts.first(where: { $0.key == "condition" }) {
      let word =
        if case .scalar(let text, _) = part.value.content { ForeignValues.condition[text] ?? "ok" } else { "ok" }
      return faults.fail(
        entry.value.place,
        "\(name) takes \(Self.words); this is a map: write '\(Quoted.bare(entry.key)): \(word)'")
    }
    return values.choice(entry.value, name, as: JobNeed.Condition.self, others: ForeignValues.condition)
  }

  /// The advice for several names in one text.
  static func advice(for name: String, isKnown: (String) -> Bool) -> String? {
    let parts = name.split { $0 == "," || $0 == " " }.map(String.init)
    guard parts.count > 1, !name.holds("["), name.contains(",") || parts.allSatisfy(isKnown) else { return nil }
    return ": write [\(parts.map(Quoted.bare).joined(separator: ", "))]"
  }
}

/// Finds the jobs that the needs of others name.
struct NeedResolver {
  /// Needs that patterns and names of matrices stand for, in a whole file.
  static let limit = 2_000_000
  /// Comparisons of names with patterns, in a whole file.
  static let comparisonLimit = 20_000_000

  private let drafts: [JobDraft]
  private let faults: FaultLog
  /// The jobs of `jobs`, followed by the jobs of `finally`.
  private var ordinary: JobNameIndex
  private var final: JobNameIndex
  private let ordinaryCount: Int
  private let hasBrokenMatrix: Bool
  private var expanded = 0
  /// The needs that faulty patterns may stand for, by the jobs that have them.
  private(set) var doubtful: [Int: [JobNeed]] = [:]
  /// The place of each job in the needs of the job that asked for it last, and whether its own name put it there.
  private var known: [(position: Int, isExact: Bool)]
  /// Bounds the search for near names in a file with very many unknown ones.
  private var searches = 2_000_000

  init(_ drafts: [JobDraft], _ faults: FaultLog) {
    self.drafts = drafts
    self.faults = faults
    ordinaryCount = drafts.indices.first { drafts[$0].job.finally != nil } ?? drafts.count
    ordinary = JobNameIndex(drafts[..<ordinaryCount].map { ($0.job.name, $0.job.matrix) })
    final = JobNameIndex(drafts[ordinaryCount...].map { ($0.job.name, $0.job.matrix) })
    known = Array(repeating: (0, false), count: drafts.count)
    hasBrokenMatrix = drafts.indices.contains { drafts[$0].hasBrokenMatrix }
  }

  /// The needs of each job, without the doubtful ones.
  mutating func resolve() -> [[JobNeed]] {
    drafts.indices.map { needs(of: $0) }
  }

  private mutating func needs(of number: Int) -> [JobNeed] {
    let isFinal = number >= ordinaryCount
    var needs: [JobNeed] = []
    needs.reserveCapacity(drafts[number].needs.count)
    for need in drafts[number].needs {
      if faults.isCut { return needs }
      guard let job = isFinal ? final.job(named: need.job) : ordinary.job(named: need.job) else {
        for job in jobs(of: need, number, isFinal: isFinal) ?? [] { add(job, need, isExact: false, to: &needs) }
        continue
      }
      let named = isFinal ? ordinaryCount + job : job
      // A job that needs itself is reported with the other cycles.
      if named != number, let fault = conditionFault(need.when, named) { faults.add(need.place, fault) }
      add(named, need, isExact: true, to: &needs)
    }
    return needs
  }

  /// Adds a job that a need names, exactly or with others.
  private mutating func add(_ job: Int, _ need: Need, isExact: Bool, to needs: inout [JobNeed]) {
    let found = JobNeed(JobID(job), when: need.when)
    let earlier = known[job]
    guard earlier.position < needs.count, needs[earlier.position].job == found.job else {
      known[job] = (needs.count, isExact)
      needs.append(found)
      return
    }
    switch (earlier.isExact, isExact) {
    case (true, true): faults.add(need.place, NeedReader.twice(drafts[job].job.name))
    // A name says more than a pattern.
    case (true, false): break
    case (false, true):
      needs[earlier.position] = found
      known[job].isExact = true
    case (false, false):
      let when = needs[earlier.position].when
      if when == need.when { break }
      faults.add(
        need.place,
        "\(Quoted.text(drafts[job].job.name)) is to be '\(need.when.rawValue)' here and '\(when.rawValue)' above: "
          + "name it above both, or change a pattern")
    }
  }

  /// The jobs of a need that is not the name of one; nil after a fault.
  private mutating func jobs(of need: Need, _ number: Int, isFinal: Bool) -> [Int]? {
    let index = isFinal ? final : ordinary
    let first = isFinal ? ordinaryCount : 0
    var jobs: [Int]
    if let instances = index.instances(of: need.job) {
      guard drafts[number].job.matrix != need.job else {
        return faults.fail(
          need.place,
          "job \(Quoted.text(need.job)) needs its own instances: delete this need, or name one as in "
            + Quoted.text(drafts[first + instances[0]].job.name))
      }
      jobs = instances.map { first + $0 }
      if let fault = conditionFault(need.when, jobs[0]) { faults.add(need.place, fault) }
    } else if let matches = matches(of: need, isFinal: isFinal) {
      jobs = matches.compactMap { $0 + first == number ? nil : $0 + first }
      let matched = jobs
      jobs.removeAll { conditionFault(need.when, $0) != nil }
      if jobs.isEmpty, let job = matched.first, let fault = conditionFault(need.when, job) {
        faults.add(need.place, fault)
        // Otherwise each use of their values would be a fault too.
        doubtful[number, default: []] += matched.map { JobNeed(JobID($0), when: need.when) }
        expanded += matched.count
      } else if jobs.isEmpty {
        if hasBrokenMatrix { return nil }
        guard matches.isEmpty else {
          return faults.fail(
            need.place, "no job but this one matches \(Quoted.text(need.job)) in needs: delete the need")
        }
        let hint = hint(forPattern: need.job, isFinal: isFinal)
        return faults.fail(need.place, "no job matches \(Quoted.text(need.job)) in needs\(hint)")
      }
    } else {
      return unknown(need, isFinal: isFinal)
    }
    expanded += jobs.count
    guard expanded <= Self.limit else {
      return faults.fail(
        need.place,
        "up to here, names of matrices and patterns stand for more than \(Self.limit) needs: "
          + "write a job that needs these, and let others need that one")
    }
    return jobs
  }

  /// The jobs that a pattern matches, by their numbers in its index; nil for text without wildcards.
  private mutating func matches(of need: Need, isFinal: Bool) -> [Int]? {
    guard JobPattern(need.job) != nil else { return nil }
    guard ordinary.comparisons + final.comparisons <= Self.comparisonLimit else {
      return faults.fail(
        need.place, "up to here, patterns in needs were compared with too many names: begin them with more letters")
    }
    return isFinal ? final.jobs(matching: need.job) : ordinary.jobs(matching: need.job)
  }

  /// The fault of a condition that the job never meets.
  private func conditionFault(_ when: JobNeed.Condition, _ job: Int) -> String? {
    guard drafts[job].hasWork, drafts[job].isService != (when == .ready) else { return nil }
    let name = drafts[job].job.matrix ?? drafts[job].job.name
    guard drafts[job].isService else {
      return
        "job \(Quoted.text(name)) is not a service, so it is never 'ready': write '\(Quoted.bare(name)): ok', or give it "
        + "'service'"
    }
    return "service \(Quoted.text(name)) ends only when no job needs it, so it is never "
      + "'\(when.rawValue)': write 'needs: { \(Quoted.bare(name)): ready }'"
  }

  // MARK: Names that no job has

  private mutating func unknown<Value>(_ need: Need, isFinal: Bool) -> Value? {
    let other = isFinal ? ordinary : final
    let name = Quoted.text(need.job)
    if other.job(named: need.job) != nil || other.instances(of: need.job) != nil {
      return faults.fail(
        need.place,
        isFinal
          ? "the jobs of 'finally' run after \(name) and all other jobs: delete this need"
          : "\(name) is a job of 'finally', which runs after all others: delete this need, or move the job")
    }
    if hasBrokenMatrix, need.job.holds("[") { return nil }
    let own = isFinal ? final : ordinary
    let isKnown = { (name: String) in own.job(named: name) != nil || own.instances(of: name) != nil }
    let advice =
      NeedReader.advice(for: need.job, isKnown: isKnown) ?? instanceHint(need.job, isFinal: isFinal)
      ?? NearestName.hint(
        for: need.job, in: nearNames(isFinal: isFinal), otherwise: ": add the job, or delete the need")
    return faults.fail(need.place, "unknown job \(name) in needs\(advice)")
  }

  /// The names that may be meant; none when the searches are used up.
  private mutating func nearNames(isFinal: Bool) -> [String] {
    searches -= drafts.count
    guard searches > 0 else { return [] }
    var names: [String] = []
    for draft in isFinal ? drafts[ordinaryCount...] : drafts[..<ordinaryCount] {
      // All instances follow each other.
      if let matrix = draft.job.matrix, names.last != matrix { names.append(matrix) }
      names.append(draft.job.name)
    }
    return names
  }

  /// The advice for `build[linux]` if `build` has no such instance.
  private func instanceHint(_ name: String, isFinal: Bool) -> String? {
    guard name.hasSuffix("]"), let bracket = name.firstIndex(of: "[") else { return nil }
    let base = String(name[..<bracket])
    let index = isFinal ? final : ordinary
    if index.job(named: base) != nil { return ": \(Quoted.text(base)) has no matrix: write \(Quoted.text(base))" }
    guard let instances = index.instances(of: base) else { return nil }
    let names = instances.lazy.map { [drafts, ordinaryCount] in drafts[isFinal ? $0 + ordinaryCount : $0].job.name }
    if let near = NearestName.of(name, in: names.prefix(1000)) { return ": did you mean \(Quoted.text(near))?" }
    return ": write \(Quoted.text(base)) for all its instances, or one as \(Quoted.text(names[0]))"
  }

  /// The advice for a pattern without a match: a job that begins with the text before its first wildcard.
  private mutating func hint(forPattern text: String, isFinal: Bool) -> String {
    let otherwise = ": add such a job, or delete the need"
    guard let prefix = JobPattern(text)?.prefix, !prefix.isEmpty else { return otherwise }
    let prefixes = nearNames(isFinal: isFinal).map { String($0.prefix(prefix.count)) }
    guard let near = NearestName.of(prefix, in: prefixes), !near.contains(where: { "*?".contains($0) }) else {
      return otherwise
    }
    return ": did you mean \(Quoted.text(near + text.dropFirst(prefix.count)))?"
  }
}
