/// An operation that runs another operation, made when it executes, and ends with its outcome.
final class FlatMapOperation<Success: Sendable>: ResultOperation<Success>, @unchecked Sendable {
  // Safe: set in the initialiser.
  private let make: @Sendable (AsyncOperation) throws -> ResultOperation<Success>
  private let inner = Lock<AttemptSeries<Success>?>(nil)

  init(_ make: @escaping @Sendable (AsyncOperation) throws -> ResultOperation<Success>) { self.make = make }

  override func main() {
    do {
      let operation = try make(self)
      let series = AttemptSeries(clock: .system, make: { _ in operation }, judge: { outcome, _ in .end(outcome) })
      inner.withLock { $0 = series }
      series.begin(1, of: self)
    } catch {
      finish(.failure(error))
    }
  }

  override func didCancel() { inner.withLock { $0 }?.cancel(self) }
}
