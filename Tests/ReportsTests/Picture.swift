import CZlib
import Foundation

/// The pixels of a PNG file with eight bits a channel, without interlacing, as browsers write them.
struct Picture {
  struct Failure: Error {
    var text: String
  }

  struct Color: Hashable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8

    /// As in `0x3F7FD1`.
    init(hex: UInt32) { (red, green, blue) = (UInt8(hex >> 16 & 255), UInt8(hex >> 8 & 255), UInt8(hex & 255)) }

    init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) { (self.red, self.green, self.blue) = (red, green, blue) }

    /// Whether no channel differs by more than a rounding.
    func isClose(to other: Color, within limit: Int = 8) -> Bool {
      zip([red, green, blue], [other.red, other.green, other.blue]).allSatisfy { abs(Int($0) - Int($1)) <= limit }
    }
  }

  let width: Int
  let height: Int
  private let channels: Int
  private var rows: [UInt8]

  init(_ png: Data) throws {
    let bytes = [UInt8](png)
    func number(_ at: Int) -> Int { bytes[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) } }
    guard bytes.count > 33, bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) else { throw Failure(text: "no PNG") }
    (width, height) = (number(16), number(20))
    guard bytes[24] == 8, bytes[25] == 2 || bytes[25] == 6, bytes[28] == 0 else { throw Failure(text: "another PNG") }
    channels = bytes[25] == 2 ? 3 : 4
    var packed: [UInt8] = []
    var at = 8
    while at + 12 <= bytes.count {
      let length = number(at)
      if bytes[(at + 4)..<(at + 8)].elementsEqual("IDAT".utf8) { packed += bytes[(at + 8)..<(at + 8 + length)] }
      at += 12 + length
    }
    let stride = width * channels
    var raw = [UInt8](repeating: 0, count: (stride + 1) * height)
    var count = uLong(raw.count)
    guard uncompress(&raw, &count, packed, uLong(packed.count)) == Z_OK, count == raw.count else {
      throw Failure(text: "damaged PNG")
    }
    rows = Self.unfiltered(raw, stride, channels)
  }

  subscript(x: Int, y: Int) -> Color {
    let at = (y * width + x) * channels
    return Color(rows[at], rows[at + 1], rows[at + 2])
  }

  /// How many pixels of a box have about this color.
  func count(_ color: Color, x: Range<Int>, y: Range<Int>) -> Int {
    y.reduce(0) { sum, y in sum + x.count { self[$0, y].isClose(to: color) } }
  }

  private static func unfiltered(_ raw: [UInt8], _ stride: Int, _ channels: Int) -> [UInt8] {
    var rows: [UInt8] = []
    rows.reserveCapacity(raw.count)
    var above = [UInt8](repeating: 0, count: stride)
    for start in Swift.stride(from: 0, to: raw.count, by: stride + 1) {
      var row = Array(raw[(start + 1)..<(start + 1 + stride)])
      let filter = raw[start]
      for x in 0..<stride where filter > 0 {
        let left = x >= channels ? Int(row[x - channels]) : 0
        let corner = x >= channels ? Int(above[x - channels]) : 0
        let up = Int(above[x])
        let guess: Int =
          switch filter {
          case 1: left
          case 2: up
          case 3: (left + up) / 2
          default: [left, up, corner].min { abs(left + up - corner - $0) < abs(left + up - corner - $1) } ?? 0
          }
        row[x] = UInt8(truncatingIfNeeded: Int(row[x]) + guess)
      }
      rows += row
      above = row
    }
    return rows
  }
}
