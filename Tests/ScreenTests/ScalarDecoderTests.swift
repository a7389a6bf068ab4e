import Screen
import Testing

@Suite struct ScalarDecoderTests {
  private func decoded(_ bytes: [UInt8]) -> [UInt32] {
    var decoder = ScalarDecoder()
    var values: [UInt32] = []
    for byte in bytes { decoder.feed(byte) { values.append($0.value) } }
    decoder.finish { values.append($0.value) }
    return values
  }

  @Test(
    arguments: [
      ([0x00], [0]), ([0x7F], [0x7F]), ([0x80], [0x80]), ([0x9F], [0x9F]), ([0xA0], [0xFFFD]), ([0xBF], [0xFFFD]),
      ([0xC1, 0xBF], [0xFFFD, 0xFFFD]), ([0xC2, 0x80], [0x80]), ([0xDF, 0xBF], [0x7FF]), ([0xE0, 0xA0, 0x80], [0x800]),
      ([0xE0, 0x9F, 0xBF], [0xFFFD]), ([0xEF, 0xBF, 0xBD], [0xFFFD]), ([0xEF, 0xBF, 0xBF], [0xFFFF]),
      ([0xF0, 0x90, 0x80, 0x80], [0x10000]), ([0xF4, 0x8F, 0xBF, 0xBF], [0x10FFFF]),
      ([0xF4, 0x90, 0x80, 0x80], [0xFFFD]), ([0xF5, 0x41], [0xFFFD, 0x41]), ([0xFF], [0xFFFD]),
      ([0xC2, 0x41], [0xFFFD, 0x41]), ([0xE2, 0x82, 0x41], [0xFFFD, 0x41]), ([0xE2, 0xC3, 0xA9], [0xFFFD, 0xE9]),
      ([0xE2, 0x82], [0xFFFD]), ([0xC3, 0xA9, 0x41], [0xE9, 0x41]),
    ] as [([UInt8], [UInt32])])
  func bytesBecomeScalarsControlsOrAMark(_ bytes: [UInt8], _ values: [UInt32]) {
    #expect(decoded(bytes) == values)
  }

  @Test func itWaitsUntilAScalarIsComplete() {
    var decoder = ScalarDecoder()
    var count = 0
    #expect(!decoder.isWaiting)
    for (byte, isWaiting) in [(0xE2, true), (0x82, true), (0xAC, false), (0x41, false), (0xC3, true)] {
      decoder.feed(UInt8(byte)) { _ in count += 1 }
      #expect(decoder.isWaiting == isWaiting, "\(byte)")
    }
    decoder.finish { _ in count += 1 }
    #expect(count == 3 && !decoder.isWaiting)
    decoder.finish { _ in count += 1 }
    #expect(count == 3)
  }
}
