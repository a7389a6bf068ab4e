import Foundation
import Operations

/// An asynchronous operation that works for a while in steps.
final class Stint: AsyncOperation, @unchecked Sendable {
  // Safe: all is constant.
  private let length: Duration
  private let steps: Int
  private let diary: Diary
  private let atStart: @Sendable (Stint) -> Void

  /// `atStart` is called at the start; the diary gets `NAME began`, `NAME worked` and `NAME finished`.
  init(
    _ name: String, lasts length: Duration, steps: Int = 8, diary: Diary,
    atStart: @escaping @Sendable (Stint) -> Void = { _ in }
  ) {
    self.length = length
    self.steps = steps
    self.diary = diary
    self.atStart = atStart
    super.init()
    self.name = name
    completionBlock = { diary.note("\(name) finished") }
  }

  override func main() {
    diary.note("\(name ?? "") began")
    atStart(self)
    work(from: 0)
  }

  override func didCancel() { finish() }

  private func work(from step: Int) {
    guard !isFinished else { return }
    report(completed: Int64(step), total: Int64(steps))
    guard step < steps else {
      diary.note("\(name ?? "") worked")
      return finish()
    }
    let pause = length / steps
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(pause / .milliseconds(1)))) {
      self.work(from: step + 1)
    }
  }
}
