import Foundation
import Support
import Testing

@testable import Transfers

private func reply(_ status: Int, _ fields: [String: String] = [:]) -> Reply {
  guard var reply = Reply(statusLine: "HTTP/1.1 \(status) Words") else { fatalError("no status line") }
  for (name, value) in fields { reply.add(line: "\(name): \(value)") }
  return reply
}

@Suite struct ReplyTests {
  @Test(arguments: [
    ("HTTP/1.1 200 OK", 200), ("HTTP/2 404 ", 404), ("HTTP/1.0 503", 503), ("HTTP/1.1 20 OK", nil), ("ICY 200 OK", nil),
    ("HTTP/1.1", nil), ("", nil),
  ])
  func aStatusLineHasThreeDigits(line: String, status: Int?) {
    #expect(Reply(statusLine: line)?.status == status)
  }

  @Test func fieldNamesAreCaseInsensitiveAndValuesAreTrimmed() {
    var reply = reply(200)
    reply.add(line: "ETAG:\t \"a b\"  ")
    reply.add(line: "etag: second")
    reply.add(line: "no field")
    #expect(reply["etag"] == "\"a b\"")
  }

  @Test func aLineThatBeginsWithABlankContinuesTheFieldBefore() {
    var reply = reply(200)
    reply.add(line: " Content-Length: 5")
    reply.add(line: "Content-Disposition: attachment;")
    reply.add(line: " filename=\"a b.txt\";")
    reply.add(line: "\tETag: x")
    #expect(reply.fileName == "a b.txt" && reply["etag"] == nil && reply.contentLength == nil)
  }

  @Test func aLengthBesideATransferCodingIsIgnored() {
    #expect(reply(200, ["Content-Length": "12"]).contentLength == 12)
    #expect(reply(200, ["Content-Length": "-12"]).contentLength == nil)
    #expect(reply(200, ["Content-Length": "12", "Transfer-Encoding": "chunked"]).contentLength == nil)
  }

  @Test func theSameLengthMayBeThereTwice() {
    var twice = reply(200, ["Content-Length": "12"])
    twice.add(line: "Content-Length: 12")
    #expect(twice.contentLength == 12 && twice.hasValidLength)
    twice.add(line: "Content-Length: 13")
    #expect(twice.contentLength == nil && !twice.hasValidLength)
  }

  @Test(arguments: [
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("soon", nil),
  ])
  func aChangeHasItsSecondIfTheDateIsOne(date: String, second: time_t?) {
    #expect(reply(200, ["Last-Modified": date]).lastModified == second)
  }

  @Test func aNoteHasThePathWithoutTheQuery() throws {
    let url = try WireURL("http://h/a/b?key=secret")
    #expect(reply(404).note(method: "PUT", url: url) == "PUT /a/b 404 (HTTP/1.1)")
    let root = try WireURL("http://h")
    #expect(reply(200).note(method: "GET", url: root, size: ", 2 bytes") == "GET / 200, 2 bytes (HTTP/1.1)")
  }

  @Test(arguments: [
    ("bytes 0-9/10", 0, 9, 10), ("Bytes 5-9/*", 5, 9, nil), ("bytes  5-5/ 6", 5, 5, 6),
  ])
  func aContentRangeIsRead(text: String, start: Int64, end: Int64, total: Int64?) throws {
    let range = try #require(ContentRange(text))
    #expect(range.start == start)
    #expect(range.end == end)
    #expect(range.total == total)
  }

  @Test(arguments: [
    "", "bytes */10", "bytes 5-4/10", "bytes 0-10/10", "bytes 0-9", "bytes -9/10", "items 0-9/10", "bytes 0-9/x",
    "bytes 0-99999999999999999999/*", "bytes +1-2/3", "bytes 0-9/10/", "bytes 0--9/10", "bytes 0-9-/10",
  ])
  func aContentRangeThatContradictsItselfIsNone(text: String) {
    #expect(ContentRange(text) == nil)
  }
}

struct RetryAfterTests {
  private let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

  @Test(arguments: [
    ("0", 0), ("120", 120), ("3600", 3600), ("3601", 3600), ("99999999999999999999", 3600),
    ("Sun, 06 Nov 1994 08:50:07 GMT", 30), ("Sun, 06 Nov 1994 08:49:07 GMT", 0),
    ("Sun, 06 Nov 2094 08:49:37 GMT", 3600),
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("-5", nil), ("1.5", nil), ("soon", nil), ("", nil),
  ])
  func theWaitIsInSecondsOrUntilADateAndAtMostAnHour(text: String, seconds: Int?) {
    #expect(reply(429, ["Retry-After": text]).retryAfter(now: now) == seconds.map { .seconds($0) })
  }

  @Test func aDateIsReadByTheServersClock() {
    let fields = ["Retry-After": "Sun, 06 Nov 1994 09:49:57 GMT", "Date": "Sun, 06 Nov 1994 09:49:37 GMT"]
    #expect(reply(503, fields).retryAfter(now: now) == .seconds(20))
    let first = ["Retry-After": "Thu, 01 Jan 1970 00:00:20 GMT", "Date": "Thu, 01 Jan 1970 00:00:00 GMT"]
    #expect(reply(503, first).retryAfter(now: now) == .seconds(20))
  }

  @Test func onlyA429AndA503AskForAWait() {
    for status in [400, 429, 500, 503] {
      let wait = TransferError.http(reply(status, ["Retry-After": "9"])).retryAfter
      #expect(wait == (status == 429 || status == 503 ? .seconds(9) : nil))
    }
  }
}

@Suite struct PartInfoTests {
  private let date = "Sun, 06 Nov 1994 08:49:37 GMT"
  private let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"

  private func validator(_ fields: [String: String]) -> String? {
    PartInfo(url: "u", reply: reply(200, fields))?.validator
  }

  @Test func aStrongTagIsAValidatorAndAWeakOneIsNot() {
    #expect(validator(["ETag": "\"x\""]) == "\"x\"")
    #expect(validator(["ETag": "W/\"x\""]) == nil)
    #expect(validator(["ETag": "x"]) == nil)
    #expect(validator(["ETag": "\"\""]) == "\"\"")
    #expect(validator(["ETag": "\""]) == nil)
    #expect(validator([:]) == nil)
  }

  @Test func aDateOfChangeIsAValidatorOnlyIfItIsOlderThanTheReply() {
    #expect(validator(["ETag": "W/\"x\"", "Last-Modified": earlier, "Date": date]) == earlier)
    #expect(validator(["Last-Modified": date, "Date": date]) == nil)
    #expect(validator(["Last-Modified": earlier]) == nil)
    #expect(validator(["Last-Modified": "yesterday", "Date": date]) == nil)
    let first = "Thu, 01 Jan 1970 00:00:00 GMT"
    #expect(validator(["Last-Modified": first, "Date": date]) == first)
  }

  @Test func aPartOfADateAgreesWithItsDateAlone() throws {
    let info = try #require(PartInfo(url: "u", reply: reply(200, ["Last-Modified": earlier, "Date": date])))
    #expect(info.agrees(with: reply(206, ["ETag": "\"x\""])))
    #expect(info.agrees(with: reply(206, ["Last-Modified": earlier])))
    #expect(!info.agrees(with: reply(206, ["Last-Modified": date])))
  }

  @Test func anInfoOfUpToAMebibyteIsRead() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("info").path()
    let info = try #require(PartInfo(url: "u", reply: reply(200, ["ETag": "\"x\"", "Content-Length": "7"])))
    let text = try JSONEncoder().encode(info)
    for (size, expected) in [(1_048_576, info), (1_048_577, nil), (text.count, info), (0, nil)] {
      let blanks = Data(repeating: UInt8(ascii: " "), count: max(0, size - text.count))
      try Data((text + blanks).prefix(size)).write(to: folder.file("info"))
      #expect(PartInfo(readFrom: path) == expected)
    }
    #expect(PartInfo(readFrom: folder.url.path()) == nil)
  }

  @Test func anInfoIsWrittenOnlyWhereThereIsNone() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("info").path()
    let info = try #require(PartInfo(url: "u", reply: reply(200, ["ETag": "\"x\"", "Content-Length": "7"])))
    try info.write(to: path)
    #expect(PartInfo(readFrom: path) == info)
    #expect(throws: TransferError(.file, "File exists: \(path)")) { try info.write(to: path) }
  }
}

@Suite struct RangeRequestTests {
  private let info = PartInfo(url: "u", reply: reply(200, ["ETag": "\"x\"", "Content-Length": "100"]))

  private func request(_ size: Int64, url: String = "u") -> RangeRequest {
    RangeRequest(size: size, info: info, url: url)
  }

  @Test func theMissingBytesAreRequestedWithTheValidator() {
    #expect(request(40).headers.map { "\($0.name): \($0.value)" } == ["If-Range: \"x\"", "Range: bytes=40-"])
  }

  @Test func theLastByteOfACompletePartIsRequestedAgain() { #expect(request(100).start == 99) }

  @Test func aPartOfOneByteIsResumedUnlessThatIsAll() {
    #expect(request(1).headers.map { "\($0.name): \($0.value)" } == ["If-Range: \"x\"", "Range: bytes=1-"])
    let tiny = PartInfo(url: "u", reply: reply(200, ["ETag": "\"x\"", "Content-Length": "1"]))
    #expect(RangeRequest(size: 1, info: tiny, url: "u").headers.isEmpty)
  }

  @Test func aPartThatCannotBeABeginningIsNotResumed() {
    #expect(request(0).start == 0)
    #expect(request(101).headers.isEmpty)
    #expect(request(40, url: "other").headers.isEmpty)
    #expect(RangeRequest(size: 40, info: nil, url: "u").headers.isEmpty)
  }

  @Test func onlyTheRequestedRangeIsTheRest() {
    let ask = request(40)
    #expect(
      ask.judge(reply(206, ["Content-Range": "bytes 40-99/100", "ETag": "\"x\""])) == .rest(end: 100, total: 100))
    #expect(ask.judge(reply(206, ["Content-Range": "bytes 40-99/*"])) == .rest(end: 100, total: 100))
    let other = "the server sent another range than asked for: starting again"
    #expect(ask.judge(reply(206, ["Content-Range": "bytes 41-99/100"])) == .again(other))
    #expect(ask.judge(reply(206, ["Content-Type": "multipart/byteranges; boundary=x"])) == .again(other))
    let changed = "the file changed on the server: starting again"
    #expect(ask.judge(reply(206, ["Content-Range": "bytes 40-98/99"])) == .again(changed))
    #expect(ask.judge(reply(206, ["Content-Range": "bytes 40-99/100", "ETag": "\"y\""])) == .again(changed))
  }

  @Test func theWholeFileInsteadOfTheRestHasANote() {
    let ask = request(40)
    #expect(
      ask.judge(reply(200, ["Content-Length": "100", "ETag": "\"x\""]))
        == .whole(total: 100, note: "the server ignored the range: starting again"))
    #expect(RangeRequest().judge(reply(200, ["Content-Length": "7"])) == .whole(total: 7, note: nil))
  }

  @Test func whatMayBeTheRestIsNotTakenForTheWholeFile() {
    let unclear = RangeRequest.Verdict.again(
      "the server doesn't say whether this is the whole file: starting again")
    for fields in [["Content-Length": "60", "ETag": "\"x\""], ["Content-Length": "60"], ["ETag": "\"x\""], [:]] {
      #expect(request(40).judge(reply(200, fields)) == unclear)
    }
    let sizeless = RangeRequest(size: 40, info: PartInfo(url: "u", reply: reply(200, ["ETag": "\"x\""])), url: "u")
    #expect(sizeless.judge(reply(200, ["Content-Length": "100", "ETag": "\"x\""])) == unclear)
    let changed = RangeRequest.Verdict.again("the file changed on the server: starting again")
    #expect(request(40).judge(reply(200, ["Content-Length": "100", "ETag": "\"y\""])) == changed)
  }

  @Test func theSizeOfAReplyIsToldAsFarAsItIsKnown() {
    #expect(RangeRequest.Verdict.whole(total: 7, note: nil).size(from: 0) == ", 7 bytes")
    #expect(RangeRequest.Verdict.whole(total: nil, note: nil).size(from: 0) == ", of unknown size")
    #expect(RangeRequest.Verdict.rest(end: 9, total: 10).size(from: 4) == ", from byte 4 of 10")
    #expect(RangeRequest.Verdict.again("why").size(from: 4).isEmpty)
  }

  @Test func aRangeThatWasNotRequestedIsAFailure() {
    guard case .failure(let error) = RangeRequest().judge(reply(206, ["Content-Range": "bytes 0-9/10"])) else {
      Issue.record("no failure")
      return
    }
    #expect(error.code == .network)
  }

  @Test func aRedirectNeedsALocation() {
    #expect(RangeRequest().judge(reply(302, ["Location": "/x"])) == .redirect("/x"))
    #expect(RangeRequest().judge(reply(302)) == .failure(TransferError(.http(302), "HTTP 302")))
    #expect(RangeRequest().judge(reply(304, ["Location": "/x"])) == .failure(TransferError(.http(304), "HTTP 304")))
  }

  @Test func anErrorThatAProgramMakesHasItsMessage() {
    let error: any Error = TransferError(.http(503), "HTTP 503", retryAfter: .seconds(3))
    #expect("\(error)" == "HTTP 503")
    #expect(error.localizedDescription == "HTTP 503")
  }

  @Test func a416MeansARestartOnlyForARange() {
    #expect(request(40).judge(reply(416)) == .again("the server has nothing after byte 40: starting again"))
    #expect(RangeRequest().judge(reply(416)) == .failure(TransferError(.http(416), "HTTP 416")))
  }
}
