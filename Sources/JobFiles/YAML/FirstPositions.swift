/// Finds where the keys of a list stand first, while items are added to it.
///
/// A short list is searched, which takes less time than hashes; a long one is not, so that all of it takes linear time.
struct FirstPositions {
  /// The longest list that is searched.
  static let searched = 16

  /// The first positions of all keys of a long list.
  private var known: [String: Int] = [:]

  /// The position of the first item with this key; without one, an item with this key is to be appended next.
  ///
  /// The list begins at `start`, which is always the same.
  mutating func position<Item>(
    of key: String, in list: [Item], from start: Int = 0, by keyOf: (Item) -> String
  ) -> Int? {
    guard list.count - start > Self.searched else { return list[start...].firstIndex { keyOf($0) == key } }
    if known.isEmpty { for position in list.indices[start...].reversed() { known[keyOf(list[position])] = position } }
    guard let first = known.updateValue(list.count, forKey: key) else { return nil }
    known[key] = first
    return first
  }
}
