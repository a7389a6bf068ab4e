import Testing

@testable import Operations

@Suite struct AwaitTableTests {
  private func ends(before operation: AsyncOperation) -> [AsyncOperation] {
    DependencyGraph.contents.withLock { $0.awaits.ends(before: operation).flatMap(\.self) }
  }

  @Test func anAwaitIsOneOfTheOperationAndOfAllThatItIsIn() {
    let (child, awaited, other) = (ManualOperation(), ManualOperation(), ManualOperation())
    let inner = GroupOperation([child])
    let group = GroupOperation([inner])
    var tokens = [child.beginAwait(of: awaited), child.beginAwait(of: other)]
    #expect(ends(before: child) == [awaited, other])
    #expect(ends(before: inner) == [child, child] && ends(before: group) == [child, child])
    #expect(ends(before: awaited) == [])
    tokens.removeFirst()
    #expect(ends(before: child) == [other])
    tokens = []
    #expect(ends(before: child) == [] && ends(before: group) == [])
  }
}
