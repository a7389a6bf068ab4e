import Support
import Testing

@testable import Operations

@Suite struct ChangeBufferTests {
  private let buffer = ChangeBuffer(keeping: 4)

  private func reader() async -> Task<OperationLifecycle?, Never> {
    let reader = Task { await buffer.next(isolation: nil)?.new.lifecycle }
    #expect(await soon { buffer.isAwaited })
    return reader
  }

  @Test func aReaderThatWaitsGetsTheNextChange() async {
    let reader = await reader()
    buffer.append(nil, OperationSnapshot(OperationLifecycle(), OperationProgress()))
    buffer.wake()
    #expect(await reader.value == OperationLifecycle() && !buffer.isAwaited)
  }

  @Test func aReaderThatWaitsEndsWhenItIsCancelledAndWhenAllIsOver() async {
    let cancelled = await reader()
    cancelled.cancel()
    #expect(await cancelled.value == nil && !buffer.isAwaited)
    let last = await reader()
    buffer.close()
    buffer.wake()
    #expect(await last.value == nil && !buffer.isAwaited)
  }
}
