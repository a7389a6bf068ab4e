import Testing

@testable import DemoServer

struct RequestTests {
  @Test func everyOptionIsRead() throws {
    let request = try Request("/file/a%20b?size=9&seed=7&rate=5&delay=20&ranges=0&times=3")
    #expect(request.path == ["file", "a b"])
    #expect(request.address == "/file/a%20b?size=9&seed=7&rate=5&delay=20&ranges=0&times=3")
    var options = Request.Options()
    (options.size, options.seed, options.rate) = (9, 7, 5)
    (options.delay, options.ranges, options.times) = (.milliseconds(20), false, 3)
    #expect(request.options == options)
  }

  @Test func whatIsNotSaidIsAsUsual() throws {
    let options = try Request("/file/a").options
    #expect(options.size == 0 && options.seed == 0 && options.rate == nil && options.delay == .zero)
    #expect(options.ranges && options.faults.isEmpty && options.times == .max)
    #expect(try Request("/file/a?ranges=1").options.ranges && Request("/file/a?ranges=2").options.ranges)
    #expect(try Request("/file/a?size=0").options == options)
  }

  @Test func faultsAreKeptInTheirOrder() throws {
    let request = try Request("/file/a?status=200&status=599&cut=0&reset=4&stall=6&cut=header&hangup")
    #expect(
      request.options.faults == [
        .status(200), .status(599), .cut(0, byReset: false), .cut(4, byReset: true), .stall(.milliseconds(6)),
        .cutHeader, .hangUp,
      ])
  }

  @Test(arguments: [
    ("size=-1", "size takes a number, 0 or more; this is '-1'"),
    ("cut=head", "cut takes a number, 0 or more; this is 'head'"),
    ("rate=0", "rate takes bytes a second, 1 or more"), ("status=199", "status takes a number from 200 to 599"),
    ("status=600", "status takes a number from 200 to 599"), ("sise=1", "'sise' is not an option of this server"),
  ])
  func aFaultInTheQueryIsNamed(query: String, message: String) {
    let refusal = #expect(throws: Refusal.self) { try Request("/file/a?\(query)") }
    #expect(refusal?.message == message)
  }

  @Test func theLongerOfADelayAndAStallCounts() throws {
    let options = try Request("/file/a?delay=50").options
    #expect(options.delay(with: nil) == .milliseconds(50))
    #expect(options.delay(with: .hangUp) == .milliseconds(50))
    #expect(options.delay(with: .stall(.milliseconds(20))) == .milliseconds(50))
    #expect(options.delay(with: .stall(.milliseconds(80))) == .milliseconds(80))
  }

  @Test func withNoTimesThereIsNoFault() throws {
    #expect(try Request("/file/a?hangup&times=0").options.fault(ofRequest: 0) == nil)
  }

  @Test func ofABodyThirtyTwoMebibytesAreKept() {
    let piece = [UInt8](repeating: 0, count: 1 << 20)
    var body = ReceivedBody()
    for _ in 0..<32 { piece.withUnsafeBytes { body.append($0) } }
    #expect(body.size == 32 << 20 && body.bytes?.count == 32 << 20)
    [UInt8(1)].withUnsafeBytes { body.append($0) }
    #expect(body.size == 32 << 20 + 1 && body.bytes == nil)
  }

  @Test func aBodyHasTheSumOfItsPieces() {
    #expect(ReceivedBody().sha256 == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    var body = ReceivedBody()
    for piece in ["a", "bc"] { Array(piece.utf8).withUnsafeBytes { body.append($0) } }
    #expect(body.size == 3 && body.bytes == Array("abc".utf8))
    #expect(body.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }
}
