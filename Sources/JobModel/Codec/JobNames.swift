/// The names of a run's jobs in the order of their identifiers, and which of them tell a job from all others.
struct JobNames: Sendable {
  private var names: [String] = []
  /// The job of each name; nil for a name that several have.
  private var ids: [String: JobID?] = [:]
  private var hasRepeats = false

  var count: Int { names.count }

  mutating func append(_ name: String) {
    if ids.updateValue(JobID(names.count), forKey: name) != nil {
      ids.updateValue(nil, forKey: name)
      hasRepeats = true
    }
    names.append(name)
  }

  /// Nil for a job that is not added yet.
  subscript(id: JobID) -> String? { names.indices.contains(id.index) ? names[id.index] : nil }

  /// The number that an event must give beside the name: for a name that several jobs have, and a job not added yet.
  func number(of id: JobID) -> Int? {
    guard let name = self[id] else { return id.index }
    return hasRepeats && ids[name] == .some(nil) ? id.index : nil
  }

  /// Nil for a name that no job has, or several.
  func id(named name: String) -> JobID? { ids[name] ?? nil }
}
