/// Choices that the bytes of an input make; a used-up input chooses the first of everything.
struct Noise {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func chance(in count: Int) -> Bool { Int(byte()) % count == 1 }

  mutating func pick<Element>(_ list: [Element]) -> Element { list[Int(byte()) % list.count] }

  mutating func text() -> String {
    let count = Int(byte() % 24)
    let bytes = rest.prefix(count)
    rest = rest.dropFirst(bytes.count)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A number as JSON and SQL have it, mostly one at a bound of a type.
  mutating func number() -> String {
    let bounds = [
      "0", "1", "2", "7", "-1", "0.000000000000000001", "0.5", "59.999999999999999999", "255", "65536", "2147483647",
      "-2147483648", "1000000000", "1000000001", "360000000", "360000001", "999999999999", "1000000000000",
      "9007199254740993", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "1e18", "1e30",
      "1e300",
      "-1e300", "99999999999999999999999999",
    ]
    return chance(in: 3) ? String(byte()) : pick(bounds)
  }
}
