/// Which recorded runs are kept.
package struct Retention: Sendable, Equatable {
  package var age: Duration
  package var runs: Int
  /// Of the events in the store and the log files; the newest run is kept however large it is.
  package var bytes: Int

  package init(age: Duration = .seconds(30 * 86_400), runs: Int = 200, bytes: Int = 1_000_000_000) {
    self.age = age
    self.runs = runs
    self.bytes = bytes
  }
}
