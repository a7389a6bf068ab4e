import Basics
import Foundation

package typealias AllocatedNode = ClusterNode

extension AllocatedNode {
  /// The call that queries the nodes of a job.
  static func query(_ id: SlurmJobID) -> SlurmCommand {
    SlurmCommand(["scontrol", "show", "job", "-d", id.description])
  }

  /// Parses the nodes in the answer to `query`.
  ///
  /// One line describes nodes that are alike: `Nodes=node[1-2] CPU_IDs=0-1 Mem=500 GRES=gpu:2(IDX:0-1)`.
  static func nodes(in answer: String) -> [AllocatedNode] {
    var nodes: [AllocatedNode] = []
    for line in answer.lines where nodes.count < limit {
      let words = line.split(separator: " ")
      func value(_ key: String) -> Substring? { words.first { $0.hasPrefix(key) }?.dropFirst(key.count) }
      guard let names = value("Nodes="), let cpus = value("CPU_IDs=") else { continue }
      let memory = value("Mem=").flatMap { Int($0) } ?? 0
      let gpus = value("GRES=").map(gpus) ?? 0
      let count = numbers(cpus).count
      nodes += expanded(names).prefix(limit - nodes.count).map {
        AllocatedNode(name: $0, cpus: count, memory: memory > 0 ? memory : nil, gpus: gpus)
      }
    }
    return nodes
  }

  /// The maximum number of names or numbers in a list; Slurm itself can't have more nodes.
  ///
  /// The rest is ignored.
  static let limit = 65_536

  /// The single names in a list such as `node[1-3,07],login`.
  static func expanded(_ list: some StringProtocol) -> [String] {
    var names: [String] = []
    var depth = 0
    var word = ""
    for character in list + "," {
      if character == "[" { depth += 1 }
      if character == "]" { depth -= 1 }
      guard character == ",", depth == 0 else {
        word.append(character)
        continue
      }
      if !word.isEmpty { names += expanded(word: word, groups: groups).prefix(limit - names.count) }
      word = ""
    }
    return names
  }

  /// The maximum number of number lists in a name; further ones stay as they are.
  private static let groups = 8

  private static func expanded(word: String, groups: Int) -> [String] {
    guard groups > 0, let open = word.firstIndex(of: "["), let close = word[open...].firstIndex(of: "]") else {
      return [word]
    }
    let rests = expanded(word: String(word[word.index(after: close)...]), groups: groups - 1)
    var names: [String] = []
    for number in numbers(word[word.index(after: open)..<close]) {
      names += rests.prefix(limit - names.count).map { word[..<open] + number + $0 }
    }
    return names
  }

  /// The numbers in a list such as `0-1,04`, with as many digits as are written.
  private static func numbers(_ list: Substring) -> [String] {
    var numbers: [String] = []
    for range in list.split(separator: ",").prefix(limit) {
      let ends = range.split(separator: "-", maxSplits: 1)
      guard ends.count == 2, ends[0].count < 20, let first = Int(ends[0]), let last = Int(ends[1]), first <= last,
        last < .max
      else {
        numbers.append(String(range))
        continue
      }
      // `prefix` would count the numbers of the range, which may be too many for an Int.
      let room = limit - min(limit, numbers.count)
      numbers += (first..<min(last + 1, first.plus(room))).map { String($0, digits: ends[0].count) }
    }
    return numbers
  }

  /// The number of GPUs in a text such as `gpu:a100:2(IDX:0-1),tmp:1`.
  private static func gpus(_ text: Substring) -> Int {
    text.matches(of: /\bgpu:(?:[^:(,]+:)?(\d+)/).reduce(0) { $0.plus(Int($1.1) ?? 0) }
  }
}
