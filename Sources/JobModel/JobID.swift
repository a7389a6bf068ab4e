/// A job's place in its graph: small, dense, and the same for the whole run.
package struct JobID: Hashable, Comparable, Sendable {
  package let index: Int

  package init(_ index: Int) { self.index = index }

  package static func < (left: JobID, right: JobID) -> Bool { left.index < right.index }
}
