import JobModel

/// The keys that a map may have, and `later` keys of the format, which this version doesn't support.
struct KnownKeys {
  /// The name of the map in messages: `a job`, `retry`.
  let owner: String
  let keys: [String]
  var later: [String] = []

  /// The entries of a map by key.
  struct Entries {
    var place: Place
    var known: [String: YAMLEntry] = [:]
    /// Whether a key is unknown, so that a missing one may be misspelt.
    var hasUnknown = false

    subscript(key: String) -> YAMLEntry? { known[key] }
  }

  /// Reports unknown keys; nil for anything but a map.
  func read(_ node: YAMLNode, faults: FaultLog) -> Entries? {
    guard case .map(let entries) = node.content else {
      let all = (keys + later).joined(separator: ", ")
      return faults.fail(node.place, "\(owner) is a map with the keys \(all); this is \(node.words)")
    }
    var result = Entries(place: node.place)
    for entry in entries {
      if faults.isCut { break }
      if keys.contains(entry.key) {
        // The first counts; the YAML reader has reported a second.
        if result.known[entry.key] == nil { result.known[entry.key] = entry }
      } else if later.contains(entry.key) {
        result.hasUnknown = true
        faults.add(entry.place, "'\(entry.key)' is not supported by this version of opdash yet: delete it")
      } else if !entry.key.hasPrefix("x-") {
        result.hasUnknown = true
        let advice = NearestName.hint(
          for: entry.key, in: keys + later,
          otherwise: ": \(owner) can have \(keys.joined(last: "or")), or x-… for what opdash ignores")
        faults.add(entry.place, "unknown key \(Quoted.text(entry.key))\(advice)")
      }
    }
    return result
  }
}
