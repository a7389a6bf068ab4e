/// Whether the parts of a pattern match the units of a text, where a star matches any number of units.
@inlinable package func matchesWildcards<Part, Units: Collection>(
  _ parts: [Part], _ units: Units, isStar: (Part) -> Bool, takes: (Part, Units.Element) -> Bool
) -> Bool {
  var (at, part) = (units.startIndex, 0)
  // The position of the last star, and the end of its match.
  var star: (part: Int, end: Units.Index)?
  while at < units.endIndex {
    if part < parts.count, isStar(parts[part]) {
      star = (part, at)
      part += 1
    } else if part < parts.count, takes(parts[part], units[at]) {
      part += 1
      units.formIndex(after: &at)
    } else if let last = star {
      at = units.index(after: last.end)
      star = (last.part, at)
      part = last.part + 1
    } else {
      return false
    }
  }
  return parts[part...].allSatisfy(isStar)
}
