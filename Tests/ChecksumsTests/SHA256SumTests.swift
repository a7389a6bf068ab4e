import Foundation
import Testing

@testable import Checksums

struct SHA256SumTests {
  @Test(arguments: [
    (String(repeating: "0aF", count: 21) + "9", true), (String(repeating: "0", count: 63), false),
    (String(repeating: "0", count: 65), false), (String(repeating: "0", count: 63) + "g", false),
    (String(repeating: "0", count: 61) + "０", false),
  ])
  func aSumHas64HexadecimalDigits(text: String, isSum: Bool) {
    #expect(SHA256Sum.isHex(text) == isSum)
  }

  @Test func aProgramMayExitWhileItsThreadsMakeSums() async {
    await #expect(processExitsWith: .success) {
      for _ in 1...4 {
        Thread.detachNewThread {
          while true { _ = SHA256Sum.hex(of: [1]) }
        }
      }
      // The first of them has begun.
      _ = SHA256Sum.hex(of: [2])
      exit(0)
    }
  }
}
