import JobModel
import Screen

/// The notes after a job in a list: its needs, where it runs and, for a job of `finally`, when.
struct NeedWords {
  /// The needs that a line names.
  private static let named = 3

  private let graph: JobGraph
  /// How many instances each matrix has.
  private var instances: [String: Int] = [:]

  init(_ graph: JobGraph) {
    self.graph = graph
    for job in graph.jobs {
      if let matrix = job.matrix { instances[matrix, default: 0] += 1 }
    }
  }

  /// In brackets, after two blanks; empty without any.
  ///
  /// `namesNeeds` is whether the place does not tell the needs.
  func text(_ job: Job, namesNeeds: Bool = true) -> String {
    var parts: [String] = []
    if job.cluster != nil { parts.append("on slurm") }
    if let end = job.finally { parts.append(end == .always ? "finally" : "finally, when \(end.rawValue)") }
    if namesNeeds, !job.needs.isEmpty {
      parts.append("needs \(names(of: job.needs).joined(most: Self.named))")
    }
    return parts.isEmpty ? "" : "  (\(parts.joined(separator: ", ")))"
  }

  /// The needed jobs with their conditions; a matrix all of whose instances are needed alike by its own name.
  private func names(of needs: [JobNeed]) -> [String] {
    struct Group: Hashable {
      var matrix: String
      var when: JobNeed.Condition
    }
    var counts: [Group: Int] = [:]
    for need in needs {
      if let matrix = graph[need.job].matrix { counts[Group(matrix: matrix, when: need.when), default: 0] += 1 }
    }
    var whole = counts.filter { instances[$0.key.matrix] == $0.value && $0.value > 1 }
    return needs.compactMap { need in
      let job = graph[need.job]
      var name = job.name
      if let group = job.matrix.map({ Group(matrix: $0, when: need.when) }), let count = whole[group] {
        // The first instance stands for all.
        whole[group] = 0
        guard count > 0 else { return nil }
        name = group.matrix
      }
      return JobText.clean(name).text + (need.when == .ok ? "" : " \(need.when.rawValue)")
    }
  }
}
