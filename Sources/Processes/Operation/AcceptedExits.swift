/// The exits of a program that count as success: `[0, 1]`, or `.any`.
public struct AcceptedExits: Sendable, Equatable, ExpressibleByArrayLiteral {
  /// Nil accepts every end, including a signal.
  private let statuses: Set<Int32>?

  private init(anyOf statuses: Set<Int32>?) { self.statuses = statuses }

  /// Accepts these exit statuses; 0 only if it is among them.
  public init(_ statuses: some Sequence<Int32>) { self.init(anyOf: Set(statuses)) }

  /// Accepts these exit statuses; 0 only if it is among them.
  public init(arrayLiteral statuses: Int32...) { self.init(statuses) }

  /// Accepts the exit status 0.
  public static let success: AcceptedExits = [0]

  /// Accepts every exit status, and every signal.
  public static let any = AcceptedExits(anyOf: nil)

  /// Whether this end counts as success.
  public func contains(_ exit: ProcessExit) -> Bool {
    guard let statuses else { return true }
    guard case .exited(let status) = exit else { return false }
    return statuses.contains(status)
  }
}
