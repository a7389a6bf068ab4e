import Testing

@testable import Processes

struct ProcessOutputTests {
  @Test func theErrorGoesWhereItIsToldTo() {
    func name(_ output: ProcessOutput?) -> String {
      switch output {
      case nil: "merged"
      case .log: "log"
      case .discarded: "discarded"
      case .string(let limit, let overflow): "string \(limit) \(overflow)"
      case .bytes(let limit, let overflow): "bytes \(limit) \(overflow)"
      case .lines(let limit, _): "lines \(limit)"
      case .chunks: "chunks"
      }
    }
    #expect(name(.merged) == "merged")
    #expect(name(.log) == "log")
    #expect(name(.discarded) == "discarded")
    #expect(name(.string(limit: 3)) == "string 3 fail")
    #expect(name(.bytes(limit: 4, whenExceeded: .keepEnd)) == "bytes 4 keepEnd")
    // A line may have a mebibyte.
    #expect(name(.lines { _ in }) == "lines 1048576")
    #expect(name(.lines(limit: 5) { _ in }) == "lines 5")
    #expect(name(.chunks { _, _ in }) == "chunks")
  }
}
