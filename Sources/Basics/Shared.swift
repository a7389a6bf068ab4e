/// A value behind a reference, which its copies share until one of them is changed.
///
/// For large values with many copies and few changes.
@usableFromInline package struct Shared<Value> {
  @usableFromInline final class Box {
    // Unchecked: the value changes only while one copy, which is accessed exclusively, has the box.
    @exclusivity(unchecked) @usableFromInline var value: Value

    @inlinable init(_ value: Value) { self.value = value }
  }

  @usableFromInline var box: Box

  @inlinable package init(_ value: Value) { box = Box(value) }

  @inlinable package var value: Value {
    _read { yield box.value }
    _modify {
      #if THREAD_SANITIZER
      // The sanitizer does not know that reference counts order accesses.
      box = Box(box.value)
      #else
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      #endif
      yield &box.value
    }
  }
}

// Safe: the value in a box changes only while one copy has the box.
extension Shared: @unchecked Sendable where Value: Sendable {}

extension Shared: Equatable where Value: Equatable {
  @inlinable package static func == (left: Shared, right: Shared) -> Bool {
    left.box === right.box || left.value == right.value
  }
}
