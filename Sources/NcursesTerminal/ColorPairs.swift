import Screen

/// Allocates the colour pairs of curses, which are scarce.
package struct ColorPairs: Sendable {
  package struct Pair: Sendable, Hashable {
    package var foreground: Style.Color
    package var background: Style.Color

    package init(_ style: Style) {
      foreground = style.foreground
      background = style.background
    }
  }

  private let capacity: Int
  private var numbers: [Pair: Int] = [:]
  private var released: [Int] = []

  /// `capacity` includes pair 0, the standard colors.
  package init(capacity: Int) { self.capacity = max(1, capacity) }

  package var isFull: Bool { released.isEmpty && numbers.count + 1 >= capacity }

  /// The number of a pair, 0 if all are in use; calls `define` for a new one.
  package mutating func number(_ pair: Pair, define: (Int, Pair) -> Void) -> Int {
    if pair == Pair(.plain) { return 0 }
    if let number = numbers[pair] { return number }
    guard !isFull else { return 0 }
    let number = released.popLast() ?? numbers.count + 1
    numbers[pair] = number
    define(number, pair)
    return number
  }

  /// Releases the numbers of all pairs that are not in `used`.
  package mutating func keep(_ used: Set<Pair>) {
    for (pair, number) in numbers where !used.contains(pair) {
      numbers[pair] = nil
      released.append(number)
    }
  }
}
