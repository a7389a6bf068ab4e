import Basics

/// Lines of JSON that are damaged step by step, as a fuzzer does.
package struct MutatedLines {
  package private(set) var lines: [[UInt8]]
  /// The first line that may differ from the original.
  package private(set) var first: Int

  /// At least one line is needed.
  package init(_ lines: [[UInt8]]) {
    self.lines = lines
    first = lines.count - 1
  }

  package mutating func mutate(_ random: inout SplitMix) {
    let line = Int(random.next() % UInt64(lines.count))
    guard !lines[line].isEmpty else { return }
    first = min(first, line)
    let place = Int(random.next() % UInt64(lines[line].count))
    switch random.next() % 10 {
    case 0: lines[line][place] = UInt8(truncatingIfNeeded: random.next())
    case 1: lines[line].remove(at: place)
    case 2: lines[line].insert(Self.pick(Array("\"{}[],:0123456789-.eE\\unltrf".utf8), &random), at: place)
    case 3: lines[line].removeSubrange(place...)
    case 4:
      let other = Int(random.next() % UInt64(lines.count))
      lines.swapAt(line, other)
      first = min(first, other)
    case 5: lines.insert(lines[line], at: line)
    default: changeDigit(line, &random)
    }
  }

  /// Puts another digit in the place of one, which mostly leaves the line valid.
  package mutating func changeDigit(_ line: Int, _ random: inout SplitMix) {
    let digits = lines[line].indices.filter { (0x30...0x39).contains(lines[line][$0]) }
    guard !digits.isEmpty else { return }
    first = min(first, line)
    lines[line][Self.pick(digits, &random)] = Self.pick(Array("0123456789".utf8), &random)
  }

  private static func pick<Value>(_ values: [Value], _ random: inout SplitMix) -> Value {
    values[Int(random.next() % UInt64(values.count))]
  }
}
