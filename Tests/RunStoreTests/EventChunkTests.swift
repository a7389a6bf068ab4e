import Testing

@testable import RunStore

struct EventChunkTests {
  private static let text = Array(String(repeating: "{\"v\":1}\n", count: 1000).utf8)

  private func inflated(_ bytes: [UInt8], size: Int) -> [UInt8]? {
    bytes.withUnsafeBytes { EventChunk.inflated($0, size: size) }
  }

  private func deflated(_ bytes: [UInt8]) throws -> EventChunk {
    var chunk = EventChunk(first: 3, count: 2, bytes: bytes)
    let isDone = chunk.deflate()
    try #require(isDone)
    return chunk
  }

  @Test func aChunkIsCompressedOnceAndReadBack() throws {
    var chunk = try deflated(Self.text)
    #expect(chunk.size == 8000 && chunk.first == 3 && chunk.count == 2)
    #expect(chunk.bytes.count < 800)
    let bytes = chunk.bytes
    let isDone = chunk.deflate()
    #expect(isDone && chunk.bytes == bytes && chunk.size == 8000)
    #expect(inflated(bytes, size: 8000) == Self.text)
    #expect(bytes.capacity < 2 * bytes.count, "it keeps no room")
  }

  @Test(arguments: [7999, 8001, 0, -1, .max]) func anotherSizeIsADamage(size: Int) throws {
    #expect(inflated(try deflated(Self.text).bytes, size: size) == nil)
  }

  @Test func moreThanAChunkHasIsADamage() throws {
    let zeros = [UInt8](repeating: 0, count: EventChunk.limit + 1)
    #expect(inflated(try deflated(zeros).bytes, size: zeros.count) == nil)
    let fewer = Array(zeros.dropLast())
    #expect(inflated(try deflated(fewer).bytes, size: fewer.count) == fewer)
  }

  @Test func otherBytesAreADamage() throws {
    var bytes = try deflated(Self.text).bytes
    #expect(inflated(Array(bytes.dropLast()), size: 8000) == nil)
    bytes[bytes.count - 1] ^= 1
    #expect(inflated(bytes, size: 8000) == nil)
  }

  @Test func whatIsOftenTheSameIsReadBackThoughItIsVerySmall() throws {
    let zeros = [UInt8](repeating: 0, count: 1_000_000)
    let chunk = try deflated(zeros)
    #expect(inflated(chunk.bytes, size: 1_000_000) == zeros)
  }
}
