/// Finds where the keys of a list stand first, while items are added to it.
///
/// A short list is searched, which takes less time than hashes; a long one is not, so that all of it takes linear time.
struct FirstPositions {
  /// The longest list that is searched.
  static let searched = 16

  private var known: [String: Int] = [:]
  /// How many items are in `known`, from the start on.
  private var count = 0

  /// The position of the first item with this key; the list begins at `start`, which is always the same.
  mutating func position<Item>(
    of key: String, in list: [Item], from start: Int = 0, by keyOf: (Item) -> String
  ) -> Int? {
    guard list.count - start > Self.searched else { return list[start...].firstIndex { keyOf($0) == key } }
    while start + count < list.count {
      let position = start + count
      let own = keyOf(list[position])
      if let first = known.updateValue(position, forKey: own) { known[own] = first }
      count += 1
    }
    return known[key]
  }
}
