import Testing

@testable import Processes

@Suite struct ResourceLimitsTests {
  @Test(arguments: [(0, 0), (5, 5), (64, 64), (1000, 64)])
  func soManyAreTriedAndFound(wanted: Int, found: Int) {
    #expect(ResourceLimits.freeDescriptors(atMost: wanted) == found)
    #expect(ResourceLimits.freeThreads(atMost: wanted) == found)
  }
}
