import Basics
import Foundation
import JobModel

/// Reads the `matrix` of a job: names with values; each combination makes one instance.
struct MatrixReader {
  struct Instance {
    /// As `build[linux,x64]`.
    var name: String
    var values: MatrixValues
  }

  /// A name with its different values.
  private struct Axis {
    var name: String
    var values: [String]
  }

  /// Combinations of one matrix, and of all matrices of a file, before some are left out.
  static let limit = 10_000
  static let fileLimit = 100_000
  /// The values below the jobs of a file, each as often as its job has combinations.
  static let workLimit = 5_000_000
  static let axesLimit = 50
  static let excludeLimit = 1000

  let values: ValueReader
  private var combinations = 0
  private var work = 0

  init(values: ValueReader) { self.values = values }

  private var faults: FaultLog { values.faults }

  /// The instances of `job`, in the order of their values as written, the last name's values changing first; after a fault
  /// nil, and `known` has the names.
  mutating func read(_ node: YAMLNode, of job: YAMLEntry, known: inout MatrixValues) -> [Instance]? {
    known.hasAllNames = false
    let takes = "a map of names to values, as in 'matrix: { os: [linux, mac] }'"
    guard case .map(let entries) = node.content else {
      return faults.fail(node.place, "matrix takes \(takes); this is \(node.words)")
    }
    let written = entries.filter { $0.key != "exclude" && $0.key != "include" }
    guard written.count <= Self.axesLimit else {
      return faults.fail(node.place, "matrix has more than \(Self.axesLimit) names: write fewer")
    }
    guard !written.isEmpty else { return faults.fail(node.place, "matrix has no values: it takes \(takes)") }
    var axes: [Axis] = []
    // The first of two equal keys counts; the YAML reader has reported the second.
    for entry in written where known.values[entry.key] == nil {
      known.values[entry.key] = .some(nil)
      if let axis = axis(entry) { axes.append(axis) }
    }
    guard axes.count == known.values.count else {
      known.hasAllNames = true
      return nil
    }
    let included = entries.first { $0.key == "include" }.map { include($0.value, axes) } ?? .some([])
    for item in included ?? [] { for name in item.more.keys { known.values[name] = .some(nil) } }
    known.hasAllNames = true
    let excluded = entries.first { $0.key == "exclude" }.map { exclude($0.value, axes) } ?? .some([])
    let count = axes.reduce(1) { $0 > Self.limit ? $0 : $0 * $1.values.count }
    guard count <= Self.limit else {
      return faults.fail(
        node.place, "matrix has more than \(Self.limit) combinations: write fewer values, or several jobs")
    }
    combinations += count
    work += count * (job.value.weight - node.weight)
    guard combinations <= Self.fileLimit, work <= Self.workLimit else {
      return faults.fail(
        node.place, "up to here, the matrices of this file make too many jobs: write fewer values, or several files")
    }
    guard let excluded, let included else { return nil }
    return instances(of: job.key, axes, count, excluded, included, node)
  }

  private func instances(
    of job: String, _ axes: [Axis], _ count: Int, _ excluded: [(chosen: [Int: Int], place: Place)],
    _ included: [Inclusion], _ node: YAMLNode
  ) -> [Instance]? {
    var combinations: [[String]] = []
    var used = excluded.map { _ in false }
    var chosen = axes.map { _ in 0 }
    for _ in 0..<count {
      var isLeftOut = false
      for (index, exclude) in excluded.enumerated() where exclude.chosen.allSatisfy({ chosen[$0] == $1 }) {
        (isLeftOut, used[index]) = (true, true)
      }
      if !isLeftOut { combinations.append(zip(axes, chosen).map { $0.values[$1] }) }
      // The next combination, as an odometer counts.
      for axis in axes.indices.reversed() {
        chosen[axis] += 1
        if chosen[axis] < axes[axis].values.count { break }
        chosen[axis] = 0
      }
    }
    for (exclude, isUsed) in zip(excluded, used) where !isUsed {
      faults.warn(exclude.place, "this leaves out nothing: no combination has these values")
    }
    guard let more = add(included, to: &combinations, axes) else { return nil }
    guard !combinations.isEmpty else {
      return faults.fail(node.place, "exclude leaves out every combination: delete the job, or exclude fewer")
    }
    var instances: [Instance] = []
    for (combination, more) in zip(combinations, more) {
      let name = "\(job)[\(combination.joined(separator: ","))]"
      guard name.unicodeScalars.count <= JobName.limit else {
        return faults.fail(
          node.place,
          "the name of instance \(Quoted.text(name)) is longer than \(JobName.limit) characters: shorten its values")
      }
      let known = Dictionary(uniqueKeysWithValues: zip(axes, combination).map { ($0.name, Optional($1)) })
      instances.append(Instance(name: name, values: MatrixValues(values: known.merging(more) { axis, _ in axis })))
    }
    return instances
  }

  // MARK: Combinations that are added

  /// An item of `include`.
  private struct Inclusion {
    /// The values of names of the matrix, by the index of the name.
    var chosen: [Int: String]
    /// The values of other names.
    var more: [String: String]
    var place: Place
  }

  /// Adds further values to the combinations that an item matches or, if it matches none, another combination.
  ///
  /// Returns the further values of each combination; nil after a fault.
  private func add(
    _ included: [Inclusion], to combinations: inout [[String]], _ axes: [Axis]
  ) -> [[String: String?]]? {
    // A name that only some items give is empty elsewhere.
    let names = Set(included.flatMap(\.more.keys))
    let none = Dictionary(uniqueKeysWithValues: names.map { ($0, Optional("")) })
    var more = combinations.map { _ in none }
    var isGood = true
    for item in included {
      let matches = combinations.indices.filter { index in
        item.chosen.allSatisfy { combinations[index][$0] == $1 }
      }
      if matches.isEmpty {
        let missing = axes.indices.filter { item.chosen[$0] == nil }.map { axes[$0].name }
        guard missing.isEmpty else {
          faults.add(
            item.place,
            "no combination has these values, and a new one needs all names: add \(missing.joined(last: "and"))")
          isGood = false
          continue
        }
        combinations.append(axes.indices.compactMap { item.chosen[$0] })
        more.append(none.merging(item.more.mapValues { $0 }) { _, new in new })
      } else if item.more.isEmpty {
        faults.warn(item.place, "this adds nothing: the matrix has this combination already")
      }
      for index in matches { more[index].merge(item.more.mapValues { $0 }) { _, new in new } }
    }
    guard combinations.count <= Self.limit else {
      return faults.fail(included[0].place, "include makes more than \(Self.limit) combinations: write fewer")
    }
    return isGood ? more : nil
  }

  /// The items of `include`; nil after a fault.
  private func include(_ node: YAMLNode, _ axes: [Axis]) -> [Inclusion]? {
    let takes =
      "a list of combinations, as in 'include: [{ \(axes[0].name): \(Quoted.bare(axes[0].values[0])), NAME: … }]'"
    guard let items = items(node, "matrix.include", takes: takes, remedy: "write two jobs") else { return nil }
    var isGood = true
    let inclusions = items.compactMap { item -> Inclusion? in
      guard case .map(let entries) = item.content, !entries.isEmpty else {
        isGood = false
        return faults.fail(item.place, "matrix.include takes \(takes); this item is \(item.words)")
      }
      var inclusion = Inclusion(chosen: [:], more: [:], place: item.place)
      for entry in entries {
        let name = "matrix.include.\(entry.key)"
        guard isValueName(entry) else {
          isGood = false
          continue
        }
        if let axis = axes.firstIndex(where: { $0.name == entry.key }) {
          guard let value = value(entry.value, name) else {
            isGood = false
            continue
          }
          if inclusion.chosen[axis] == nil { inclusion.chosen[axis] = value }
        } else if let text = values.text(entry.value, name, takes: "text or numbers as values") {
          if inclusion.more[entry.key] == nil { inclusion.more[entry.key] = text }
        } else {
          isGood = false
        }
      }
      return inclusion
    }
    return isGood ? inclusions : nil
  }

  /// The items of `include` or `exclude`; nil after a fault.
  private func items(_ node: YAMLNode, _ name: String, takes: String, remedy: String) -> [YAMLNode]? {
    let items: [YAMLNode]
    switch node.content {
    case .map: items = [node]
    case .list(let list): items = list
    case .scalar: return faults.fail(node.place, "\(name) takes \(takes); this is \(node.words)")
    }
    guard items.count <= Self.excludeLimit else {
      return faults.fail(node.place, "\(name) has more than \(Self.excludeLimit) items: \(remedy)")
    }
    return items
  }

  // MARK: Values

  private func isValueName(_ entry: YAMLEntry) -> Bool {
    if Variables.isName(entry.key, andHyphens: true) { return true }
    faults.add(
      entry.place,
      "\(Quoted.text(entry.key)) can't name values of a matrix: use letters, digits, '_' and '-', no digit first")
    return false
  }

  private func axis(_ entry: YAMLEntry) -> Axis? {
    guard isValueName(entry) else { return nil }
    let name = "matrix.\(entry.key)"
    let takes = "a value, or a list of values"
    guard let items = values.list(entry.value, name, takes: takes, isSingleAllowed: true) else { return nil }
    guard !items.isEmpty else {
      return faults.fail(
        entry.value.place, "\(name) has no values, so there would be no instances: it takes \(takes)")
    }
    guard items.count <= Self.limit else {
      return faults.fail(entry.value.place, "\(name) has more than \(Self.limit) values: write fewer")
    }
    var axis = Axis(name: entry.key, values: [])
    var seen = Set<String>()
    for item in items {
      guard let value = value(item, name) else { continue }
      guard seen.insert(value).inserted else {
        faults.add(item.place, "\(name) has \(Quoted.text(value)) twice: delete one")
        continue
      }
      axis.values.append(value)
    }
    return axis.values.count == items.count ? axis : nil
  }

  /// A value, which is also a part of an instance's name.
  private func value(_ node: YAMLNode, _ name: String) -> String? {
    guard let text = values.text(node, name, takes: "text or numbers as values") else { return nil }
    let subject = "\(name): the value \(Quoted.text(text))"
    if text.contains(",") {
      let parts = text.split(separator: ",").map { Quoted.bare($0.trimmingCharacters(in: .whitespaces)) }
      return faults.fail(
        node.place,
        "\(subject) holds ',', which stands between the values in an instance's name: write a list as "
          + "[\(parts.joined(separator: ", "))], or another character")
    }
    if text.holds("[") || text.holds("]") {
      return faults.fail(
        node.place, "\(subject) holds a bracket, which encloses the values in an instance's name: delete it")
    }
    // A '-' inside brackets doesn't begin an option.
    if let fault = JobName.fault(in: text.hasPrefix("-") ? "x" + text : text) {
      return faults.fail(node.place, "\(subject) \(fault)")
    }
    return text
  }

  // MARK: Combinations that are left out

  /// The value index by name index of each combination to leave out; nil after a fault.
  private func exclude(_ node: YAMLNode, _ axes: [Axis]) -> [(chosen: [Int: Int], place: Place)]? {
    let takes = "a list of combinations, as in 'exclude: [{ \(axes[0].name): \(Quoted.bare(axes[0].values[0])) }]'"
    let remedy = "name fewer keys in each, or write two jobs"
    guard let items = items(node, "matrix.exclude", takes: takes, remedy: remedy) else { return nil }
    var isGood = true
    let excluded = items.compactMap { item -> (chosen: [Int: Int], place: Place)? in
      guard case .map(let entries) = item.content else {
        isGood = false
        return faults.fail(item.place, "matrix.exclude takes \(takes); this item is \(item.words)")
      }
      guard !entries.isEmpty else {
        isGood = false
        return faults.fail(
          item.place, "this item of matrix.exclude names nothing, so it would leave out everything: delete it")
      }
      var chosen: [Int: Int] = [:]
      var isKnown = true
      for entry in entries {
        guard let axis = axes.firstIndex(where: { $0.name == entry.key }) else {
          let advice = NearestName.hint(
            for: entry.key, in: axes.map(\.name), otherwise: ": it has \(axes.map(\.name).joined(last: "and"))")
          faults.add(entry.place, "this matrix has no \(Quoted.text(entry.key))\(advice)")
          isGood = false
          continue
        }
        let name = "matrix.exclude.\(entry.key)"
        guard let value = values.text(entry.value, name, takes: "one value; write an item for each") else {
          isGood = false
          continue
        }
        if let index = axes[axis].values.firstIndex(of: value) {
          if chosen[axis] == nil { chosen[axis] = index }
        } else {
          isKnown = false
          let advice = NearestName.hint(for: value, in: axes[axis].values, otherwise: ": delete this item")
          faults.warn(
            entry.value.place,
            "this leaves out nothing, because matrix.\(entry.key) has no \(Quoted.text(value))\(advice)")
        }
      }
      return isKnown ? (chosen, item.place) : nil
    }
    return isGood ? excluded : nil
  }
}
