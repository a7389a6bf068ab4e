import Basics
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
    for line in output.lines {
      let fields = line.split(separator: SlurmRecord.separator, omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard fields.count == 9, fields[4].first?.isNumber == true else { continue }
      let partition = fields[0]
      if fields[1].hasSuffix("*") { defaultPartition = partition }
      groups.append(
        Group(
          partition: partition, isUp: fields[2] == "up", timeLimit: Self.time(fields[3]),
          nodes: Self.number(fields[4]),
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

  /// `1024+`, where nodes differ, counts as 1024; no number is greater than a billion, so that two can be multiplied.
  private static func number(_ text: some StringProtocol) -> Int {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    return digits.isEmpty ? 0 : min(Int(digits) ?? .max, 1_000_000_000)
  }

  /// `[D-]HH:MM:SS`, `MM:SS`; nil for `infinite` and the like.
  private static func time(_ text: String) -> Duration? {
    let parts = text.split(separator: "-", maxSplits: 1)
    let units = (parts.last ?? "").split(separator: ":")
    let isTime = (parts.dropLast() + units).allSatisfy { $0.allSatisfy { $0.isASCII && $0.isNumber } }
    guard isTime, (1...3).contains(units.count) else { return nil }
    let days = parts.count == 2 ? number(parts[0]) : 0
    let seconds = units.count == 1 ? number(units[0]) * 60 : units.reduce(0) { $0.times(60).plus(number($1)) }
    return Duration(clamping: Double(days) * 86_400 + Double(seconds))
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
      let count = parts[parts.count - 1]
      return sum.plus(parts.count > 1 && count.first?.isNumber == true ? number(count) : 1)
    }
  }
}
