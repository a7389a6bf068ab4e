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
}
