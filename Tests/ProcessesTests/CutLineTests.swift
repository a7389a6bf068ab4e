import Operations
import Testing

@testable import Processes

/// Where a line is cut at its limit.
struct CutLineTests {
  private func cut(_ text: String) throws -> OperationLogLine {
    var splitter = LineSplitter(.standardOutput)
    return try #require(splitter.feed(Array((text + "\n").utf8)).lines.first)
  }

  /// Scalars of two, three and four bytes, each beginning so many bytes before the limit that some of them are cut off.
  @Test(arguments: [("ö", 2), ("€", 3), ("😀", 4)]) func aCutScalarIsLeftOutWhole(scalar: String, length: Int) throws {
    for kept in 1..<length {
      let line = try cut(String(repeating: "x", count: LineSplitter.limit - kept) + scalar + "yz")
      #expect(line.isCut)
      #expect(line.text == String(repeating: "x", count: LineSplitter.limit - kept))
    }
  }

  @Test(arguments: ["ö", "€", "😀"]) func aScalarThatEndsAtTheLimitIsKept(scalar: String) throws {
    let text = String(repeating: "x", count: LineSplitter.limit - scalar.utf8.count) + scalar
    #expect(try cut(text + "y").text == text)
    #expect(try cut(text + "y").isCut)
    #expect(try cut(text).isCut == false)
  }
}
