import Foundation

/// What a cluster has, as sinfo says.
package struct ClusterInfo: Sendable, Equatable {
  /// Nodes of one partition that are alike.
  package struct Group: Sendable, Equatable {
    package var partition: String
    package var isUp: Bool
    /// The longest time of a job; nil without a limit.
    package var timeLimit: Duration?
    package var nodes: Int
    /// Of each node.
    package var cpus: Int
    /// Of each node, in MiB.
    package var memory: Int
    /// Of each node.
    package var gpus: Int
    package var features: Set<String>
  }

  package var groups: [Group] = []
  /// The partition of jobs that name none.
  package var defaultPartition: String?

  package static let query = SlurmCommand([
    "sinfo", "-h", "-e", "-a", "-o",
    ["%R", "%P", "%a", "%l", "%D", "%c", "%m", "%G", "%f"].joined(separator: String(SlurmRecord.separator)),
  ])

  /// Reads the answer to `query`.
  package init(_ output: String) {
    for line in output.split(separator: "\n") {
      let fields = line.split(separator: SlurmRecord.separator, omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard fields.count == 9, let nodes = Int(fields[4]) else { continue }
      let partition = fields[0]
      if fields[1].hasSuffix("*") { defaultPartition = partition }
      groups.append(
        Group(
          partition: partition, isUp: fields[2] == "up", timeLimit: Self.time(fields[3]), nodes: nodes,
          cpus: Self.number(fields[5]), memory: Self.number(fields[6]), gpus: Self.gpus(fields[7]),
          features: Set(fields[8].split(separator: ",").map(String.init)).subtracting(["(null)"])))
    }
  }

  /// Asks the controller; `done` is called on any thread, with nil where it does not answer.
  package static func ask(_ runner: any SlurmRunner, _ done: @escaping @Sendable (ClusterInfo?) -> Void) {
    runner.run(query) { done($0.isSuccess ? ClusterInfo($0.output) : nil) }
  }

  var partitionList: String {
    let names = Set(groups.map(\.partition)).sorted()
    return names.count == 1 ? "there is only \(names[0])" : "there are \(names.joined(separator: ", "))"
  }

  /// `1024+`, where nodes differ, counts as 1024.
  private static func number(_ text: String) -> Int { Int(text.prefix { $0.isNumber }) ?? 0 }

  /// `[D-]HH:MM:SS`, `MM:SS`; nil for `infinite` and the like.
  private static func time(_ text: String) -> Duration? {
    let parts = text.split(separator: "-", maxSplits: 1)
    let days = parts.count == 2 ? Int(parts[0]) : 0
    let units = (parts.last ?? "").split(separator: ":").map { Int($0) }
    guard let days, (1...3).contains(units.count), units.allSatisfy({ $0 != nil }) else { return nil }
    let seconds = units.count == 1 ? (units[0] ?? 0) * 60 : units.reduce(0) { $0 * 60 + ($1 ?? 0) }
    return .seconds(days * 86_400 + seconds)
  }

  /// `gpu:2`, `gpu:a100:4(S:0-1),license:1`.
  private static func gpus(_ text: String) -> Int {
    var depth = 0
    var plain = ""
    for character in text {
      if character == "(" {
        depth += 1
      } else if character == ")" {
        depth -= 1
      } else if depth == 0 {
        plain.append(character)
      }
    }
    return plain.split(separator: ",").reduce(0) { sum, resource in
      let parts = resource.split(separator: ":")
      guard parts.first == "gpu" else { return sum }
      return sum + (parts.count == 1 ? 1 : Int(parts[parts.count - 1]) ?? 1)
    }
  }
}
