/// A stored property that belongs to the UI queue: each access, read or write, is a `UIQueue.check()`.
///
/// Checks only if `UIQueue.response` requires it: by default in debug builds. `@MainActor` types don't need it, because
/// the compiler checks them.
@propertyWrapper public struct UIState<Value> {
  private var value: Value
  private let name: String
  private let file: String
  private let line: UInt

  /// Makes the property; `file` and `line` name the place of its declaration.
  public init(wrappedValue: Value, file: String = #fileID, line: UInt = #line) {
    value = wrappedValue
    name = "a UIState of type \(Value.self)"
    self.file = file
    self.line = line
  }

  /// The value, on the UI queue.
  public var wrappedValue: Value {
    get {
      UIQueue.check(function: name, file: file, line: line)
      return value
    }
    _modify {
      UIQueue.check(function: name, file: file, line: line)
      yield &value
    }
  }
}

extension UIState: Sendable where Value: Sendable {}
