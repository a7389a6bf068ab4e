import Screen
import Testing

/// Encodings that are longer than needed, by which a control could pass for another scalar.
struct OverlongTextTests {
  @Test(
    arguments: [
      ([0xE0, 0x82, 0x9B], "CSI in three"), ([0xE0, 0x80, 0x9B], "an escape"),
      ([0xF0, 0x80, 0x80, 0x9B], "an escape in four"), ([0xF0, 0x8F, 0xBF, 0xBF], "the last of three bytes in four"),
    ] as [([UInt8], String)])
  func anOverlongEncodingIsNoScalar(bytes: [UInt8], name: String) {
    let text = JobText(line: bytes + Array("31m!".utf8)).plain
    #expect(text.hasSuffix("31m!"), "\(name): \(text.debugDescription)")
    #expect(text.dropLast(4).unicodeScalars.allSatisfy { $0 == "\u{FFFD}" }, "\(name): \(text.debugDescription)")
  }
}
