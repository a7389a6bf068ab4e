import JobModel
import Screen

/// Reads key bindings; a key must have one action, and an indispensable action must have a key.
struct KeyReader {
  /// A key in the file.
  private typealias Given = (key: Key, action: String, place: Place)

  let actions: [(name: String, keys: [Key], isNeeded: Bool)]
  let values: ValueReader

  private var faults: FaultLog { values.faults }

  func read(_ node: YAMLNode) -> [String: [Key]] {
    let takes = "a map of actions to keys, as in 'keys: { cancel: [d, F9] }'"
    var changes: [String: [Key]] = [:]
    var given: [Key: Given] = [:]
    for entry in values.map(node, "keys", takes: takes) ?? [] where changes[entry.key] == nil {
      guard let action = actions.first(where: { $0.name == entry.key }) else {
        guard !entry.key.hasPrefix("x-") else { continue }
        let advice = NearestName.hint(for: entry.key, in: actions.map(\.name), otherwise: ": opdash keys lists them")
        faults.add(entry.place, "unknown action \(Quoted.text(entry.key))\(advice)")
        continue
      }
      changes[action.name] = keys(of: action, entry, &given)
    }
    checkLosses(changes, given)
    return changes
  }

  private func keys(
    of action: (name: String, keys: [Key], isNeeded: Bool), _ entry: YAMLEntry, _ given: inout [Key: Given]
  ) -> [Key] {
    let name = "keys.\(action.name)"
    guard let items = items(entry.value, name) else { return action.keys }
    if items.isEmpty, action.isNeeded {
      faults.add(entry.place, "\(action.name) must have a key, because there is no other way to it: give it one")
    }
    return items.compactMap { item in
      guard let key = key(item, name) else { return nil }
      if let first = given[key] {
        let whose = first.action == action.name ? "" : " to \(first.action)"
        return faults.fail(
          item.place,
          "key \(Quoted.text(key.name())) is given\(whose) at \(first.place.words) already: delete one of them")
      }
      given[key] = (key, action.name, item.place)
      return key
    }
  }

  /// The nodes of the keys; `none` is an empty list.
  private func items(_ node: YAMLNode, _ name: String) -> [YAMLNode]? {
    switch node.content {
    case .list(let items): return items
    case .scalar("none", _): return []
    case .scalar where !node.isNull: return [node]
    case .scalar, .map:
      // An unquoted # begins a comment.
      let advice = node.isNull ? ": write [] for none, and '#' or '~' in quotes" : ""
      return faults.fail(node.place, "\(name) takes a key or a list of keys; this is \(node.words)\(advice)")
    }
  }

  private func key(_ node: YAMLNode, _ name: String) -> Key? {
    guard case .scalar(let text, _) = node.content, !node.isNull else {
      let quotes = node.isNull ? ": put '#' or '~' in quotes" : ""
      return faults.fail(node.place, "\(name) takes a key or a list of keys; this is \(node.words)\(quotes)")
    }
    guard !text.isEmpty else {
      return faults.fail(
        node.place, "\(name) takes a key or a list of keys; this is empty: put '!', '|' or '>' in quotes")
    }
    guard let key = Key(named: text) else {
      let near = text.count > 1 ? NearestName.hint(for: text, in: Key.names) : ""
      return faults.fail(
        node.place,
        "\(Quoted.text(text)) is not a key\(near.isEmpty ? ": write x, X, ^U, F9, Space, Enter, PgUp or the like" : near)"
      )
    }
    guard !key.isSignal else {
      return faults.fail(
        node.place, "\(Quoted.text(text)) never arrives, because the terminal makes a signal of it: choose another key")
    }
    return key
  }

  /// Reports an action that loses its last key to others without being named, which is most likely a mistake.
  private func checkLosses(_ changes: [String: [Key]], _ given: [Key: Given]) {
    for action in actions where changes[action.name] == nil && !action.keys.isEmpty {
      let takers = action.keys.compactMap { given[$0] }
      guard takers.count == action.keys.count, let last = takers.max(by: { $0.place < $1.place }) else { continue }
      let advice = action.isNeeded ? "" : ", or write '\(action.name): []'"
      faults.add(
        last.place,
        "\(Quoted.text(last.key.name())) is the last key of \(action.name): give \(action.name) another\(advice)")
    }
  }
}
