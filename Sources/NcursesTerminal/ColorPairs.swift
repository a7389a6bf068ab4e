import Screen

/// Numbers for pairs of colours: curses wants every pair named before it is used, and has only so many names.
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

  /// `capacity` counts the terminal's own pair 0.
  package init(capacity: Int) { self.capacity = max(1, capacity) }

  package var isFull: Bool { released.isEmpty && numbers.count + 1 >= capacity }

  /// The number for a pair, `define` called when it is new; 0, the terminal's own colours, when there is no room.
  package mutating func number(_ pair: Pair, define: (Int, Pair) -> Void) -> Int {
    if pair == Pair(.plain) { return 0 }
    if let number = numbers[pair] { return number }
    guard !isFull else { return 0 }
    let number = released.popLast() ?? numbers.count + 1
    numbers[pair] = number
    define(number, pair)
    return number
  }

  /// Makes room: only what is on the screen keeps its number.
  package mutating func keep(_ used: Set<Pair>) {
    for (pair, number) in numbers where !used.contains(pair) {
      numbers[pair] = nil
      released.append(number)
    }
  }
}
