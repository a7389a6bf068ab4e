import Checksums
import Testing

@testable import DemoServer

@Suite struct DemoContentTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (String(repeating: "a", count: 1000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
  ])
  func theSumIsThatOfTheStandard(text: String, sum: String) {
    #expect(SHA256Sum.hex(of: Array(text.utf8)) == sum)
  }

  @Test func theSumDoesNotDependOnThePieces() {
    let bytes = DemoContent(size: 1000, seed: 3).bytes
    for piece in [1, 7, 63, 64, 65, 129] {
      let sum = SHA256Sum()
      for start in stride(from: 0, to: bytes.count, by: piece) {
        bytes[start..<min(bytes.count, start + piece)].withUnsafeBytes { sum.update($0) }
      }
      #expect(sum.hex == SHA256Sum.hex(of: bytes))
    }
  }

  @Test func contentIsTheSameFromWhereverItIsRead() {
    let content = DemoContent(size: 100, seed: 5)
    let whole = content.bytes
    #expect(Set(whole).count > 50)
    for offset in 0..<100 {
      var part = [UInt8](repeating: 0, count: 23)
      let count = part.withUnsafeMutableBytes { content.read(at: offset, into: $0) }
      #expect(part[..<count] == whole[offset...].prefix(23))
    }
    #expect(content.sha256 == SHA256Sum.hex(of: whole))
    #expect(DemoContent(size: 100, seed: 6).bytes != whole)
  }

  @Test(arguments: [
    (nil, ByteRange.whole), ("bytes=0-9", .part(0..<10)), ("bytes=5-", .part(5..<100)), ("bytes=-7", .part(93..<100)),
    ("bytes=90-200", .part(90..<100)), ("bytes=-200", .part(0..<100)), ("bytes=100-", .unsatisfiable),
    ("bytes=-0", .unsatisfiable), ("bytes=9-5", .whole), ("bytes=0-1,5-6", .whole), ("bytes=-", .whole),
    ("bytes=a-b", .whole), ("lines=0-1", .whole), ("bytes=3-9223372036854775807", .part(3..<100)),
    ("bytes=3-99999999999999999999", .whole),
  ])
  func aRangeIsReadAsTheStandardSays(header: String?, range: ByteRange) {
    #expect(ByteRange(header, size: 100) == range)
  }

  @Test func noRangeOfNothingIsSatisfiable() {
    #expect(ByteRange("bytes=0-", size: 0) == .unsatisfiable)
    #expect(ByteRange("bytes=-1", size: 0) == .unsatisfiable)
  }

  @Test func aPacedStreamTakesTheTimeThatItsRateSays() {
    var pace = Pace(rate: 100_000)
    var now = Duration.zero
    var sent = 0
    while sent < 500_000 {
      switch pace.step(wanted: 500_000 - sent, at: now) {
      case .pass(let count): sent += count
      case .wait(let delay): now += delay
      }
    }
    #expect(abs(now / .seconds(1) - 5) < 0.1)
  }

  @Test func aReaderThatWasAwayMayNotCatchUpOnAllThatItMissed() {
    var pace = Pace(rate: 100_000)
    _ = pace.step(wanted: 10, at: .zero)
    guard case .pass(let count) = pace.step(wanted: 1_000_000, at: .seconds(60)) else {
      Issue.record("nothing passed after a minute")
      return
    }
    #expect(count <= 20_000)
  }

  @Test func anUnpacedStreamNeverWaits() {
    var pace = Pace(rate: nil)
    #expect(pace.step(wanted: 12_345, at: .zero) == .pass(12_345))
  }

  @Test func faultsHoldInTheirOrderAndThenTheAnswerIsRight() throws {
    let request = try Request("/file/a?size=9&status=503&cut=100&times=2")
    #expect(
      (0..<5).map { request.options.fault(ofRequest: $0) } == [
        .status(503), .status(503), .cut(100, byReset: false), .cut(100, byReset: false), nil,
      ])
  }

  @Test func aFaultWithoutANumberOfTimesHoldsForEver() throws {
    let request = try Request("/file/a?hangup")
    #expect(request.options.fault(ofRequest: 1_000_000) == .hangUp)
  }

  @Test(arguments: ["?size=x", "?sise=4", "?rate=0", "?status=99", "?cut=-1", "?delay="])
  func aFaultyQueryIsRefusedWithAReason(query: String) {
    let refusal = #expect(throws: Refusal.self) { try Request("/file/a" + query) }
    #expect(refusal?.status == 400 && refusal?.message.isEmpty == false)
  }
}
