import Testing

@testable import Processes

struct AcceptedExitsTests {
  @Test(
    arguments: [
      (.success, [true, false, false, false]), ([0, 1], [true, true, false, false]),
      ([9], [false, false, true, false]), ([], [false, false, false, false]), (.any, [true, true, true, true]),
      (.init(1...9), [false, true, true, false]),
    ] as [(AcceptedExits, [Bool])])
  func aSignalIsAcceptedOnlyAsAnyExit(accepted: AcceptedExits, expected: [Bool]) {
    let exits: [ProcessExit] = [.exited(0), .exited(1), .exited(9), .signalled(9)]
    #expect(exits.map(accepted.contains) == expected)
  }
}
