/// The number of a Slurm job; for a job in an array, the array's number and the index, `12_3`.
///
/// A controller that was killed reuses numbers: a number identifies a job only together with its submission time.
package struct SlurmJobID: Sendable, Hashable, CustomStringConvertible {
  /// The number of the job or of its array.
  package let number: Int
  /// The index in an array.
  package let index: Int?

  package init(_ number: Int, index: Int? = nil) {
    self.number = number
    self.index = index
  }

  /// Parses `12` and `12_3`; nil for anything else, such as the `12_[4-9]` of jobs that are not listed one by one.
  package init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let number = Int(first), number > 0 else { return nil }
    self.number = number
    if parts.count == 1 {
      index = nil
    } else if let index = Int(parts[1]) {
      self.index = index
    } else {
      return nil
    }
  }

  package var description: String { index.map { "\(number)_\($0)" } ?? String(number) }
}

extension Sequence where Element == SlurmJobID {
  /// The scancel arguments for these jobs, sorted: an array is one word, `12_[0-4,7]`.
  package var words: [String] {
    let arrays = Dictionary(grouping: self, by: \.number)
    return arrays.keys.sorted().map { number in
      let indices = Set((arrays[number] ?? []).compactMap(\.index)).sorted()
      return indices.isEmpty ? String(number) : "\(number)_[\(indices.ranges)]"
    }
  }
}

extension [Int] {
  /// Sorted numbers as ranges, such as `0-4,7`.
  fileprivate var ranges: String {
    var ranges: [(first: Int, last: Int)] = []
    for number in self {
      if let last = ranges.last?.last, last == number - 1 {
        ranges[ranges.count - 1].last = number
      } else {
        ranges.append((number, number))
      }
    }
    return ranges.map { $0.first == $0.last ? "\($0.first)" : "\($0.first)-\($0.last)" }.joined(separator: ",")
  }
}
