import Basics
import Foundation

/// What an allocation has of one node.
package struct AllocatedNode: Sendable, Equatable {
  package var name: String
  package var cpus: Int
  /// In MiB; nil where the cluster does not share out memory.
  package var memory: Int?
  package var gpus: Int

  package init(name: String, cpus: Int, memory: Int? = nil, gpus: Int = 0) {
    self.name = name
    self.cpus = cpus
    self.memory = memory
    self.gpus = gpus
  }

  /// The call that asks for the nodes of a job.
  static func query(_ id: SlurmJobID) -> SlurmCommand {
    SlurmCommand(["scontrol", "show", "job", "-d", id.description])
  }

  /// Reads the nodes in the answer to `query`, as `Nodes=node[1-2] CPU_IDs=0-1 Mem=500 GRES=gpu:2(IDX:0-1)`, one line for
  /// nodes that are alike.
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

  /// How many names or numbers a list has at most; Slurm itself can't have more nodes.
  ///
  /// The rest is left out.
  static let limit = 65_536

  /// The names of `node[1-3,07],login` one by one.
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

  /// How many lists of numbers a name has at most; further ones are left as they are.
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

  /// The numbers of `0-1,04`, with as many digits as are written.
  private static func numbers(_ list: Substring) -> [String] {
    var numbers: [String] = []
    for range in list.split(separator: ",").prefix(limit) {
      let ends = range.split(separator: "-", maxSplits: 1)
      guard ends.count == 2, ends[0].count < 20, let first = Int(ends[0]), let last = Int(ends[1]), first <= last else {
        numbers.append(String(range))
        continue
      }
      numbers += (first...last).prefix(limit - min(limit, numbers.count)).map { number in
        let digits = String(number)
        return String(repeating: "0", count: max(0, ends[0].count - digits.count)) + digits
      }
    }
    return numbers
  }

  /// The GPUs of `gpu:a100:2(IDX:0-1),tmp:1`.
  private static func gpus(_ text: Substring) -> Int {
    text.matches(of: /\bgpu:(?:[^:(,]+:)?(\d+)/).reduce(0) { $0.plus(Int($1.1) ?? 0) }
  }
}
