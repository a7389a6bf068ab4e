/// How many elements a value keeps in its collections, by the path of stored properties that leads to them.
///
/// Looks into structures, enumerations and objects of this package; of a collection with more than `detailed` elements
/// only their number counts. Call it where nothing else changes the value.
package struct KeptElements {
  private static let detailed = 100
  private static let foreign = ["Foundation.", "FoundationEssentials.", "Dispatch.", "Swift.", "__C."]

  /// The number of elements by path, `jobs.log.storage` for one; those of several collections at one path are added up.
  package private(set) var counts: [String: Int] = [:]
  private var seen: Set<ObjectIdentifier> = []

  package init(of value: Any) { add(value, "") }

  private mutating func add(_ value: Any, _ path: String) {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .class:
      let name = String(reflecting: mirror.subjectType)
      let isNew = seen.insert(ObjectIdentifier(value as AnyObject)).inserted
      guard isNew, !Self.foreign.contains(where: name.hasPrefix) else { return }
      addChildren(of: mirror, path)
    case .collection, .set, .dictionary:
      counts[path, default: 0] += mirror.children.count
      if mirror.children.count <= Self.detailed { for child in mirror.children { add(child.value, path) } }
    default:
      addChildren(of: mirror, path)
    }
  }

  private mutating func addChildren(of mirror: Mirror, _ path: String) {
    for child in mirror.children {
      let isProperty = child.label.map { $0 != "some" && !$0.hasPrefix(".") } ?? false
      add(child.value, isProperty ? (path.isEmpty ? "" : path + ".") + (child.label ?? "") : path)
    }
  }
}
