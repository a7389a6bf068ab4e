import Foundation
import JobModel
import Support
import Testing

@testable import Remote

@Suite struct RunServerTests {
  private var hello: String { String(decoding: Hello(access: .full, logLines: 10).line, as: UTF8.self) }

  @Test func nothingIsDeliveredWhileNobodyIsAttached() throws {
    let served = try Served()
    #expect(served.feed.readers == 0)
    var remote: RemoteFeed? = try served.attach()
    #expect(served.feed.readers == 1 && remote?.snapshot.jobs.count == 3)
    remote = nil
    #expect(eventually { served.feed.readers == 0 })
  }

  @Test func aReaderThatIsStoppedTakesBoundedMemoryAndCatchesUp() throws {
    let served = try Served()
    let raw = try RawReader(try #require(served.programs.first))
    raw.send(hello)
    #expect(eventually { served.feed.readers == 1 })
    for number in 0..<60_000 {
      let line = LogLine(.stdout, "line \(number) \(String(repeating: "x", count: 100))")
      served.feed.post(.jobLog(JobID(number % 3), attempt: 1, line))
    }
    let end = served.feed.run.nextSeq
    // What it gets is what the socket and the server held, and a snapshot of the end.
    var last = 0
    while last < end, let line = raw.line() {
      if line.contains(#""type":"snapshot","#) {
        let number = line.split(separator: #""seq":"#)[1].prefix { $0.isNumber }
        last = Int(number) ?? 0
      } else if line.contains(#""type":"job_log""#) {
        last = (Int(line.split(separator: #""seq":"#)[1].prefix { $0.isNumber }) ?? 0) + 1
      }
    }
    #expect(last == end)
    #expect(raw.taken < 3 * RunReader.limit)
  }

  @Test(arguments: [
    ("garbage", "not JSON"),
    (#"{"type":"hello","version":2,"access":"full","log_lines":0}"#, "version 1 of the protocol, not 2"),
    (#"{"type":"hello","version":1,"access":"all","log_lines":0}"#, "'access' is 'all'"),
    (#"{"type":"command","n":1,"command":"slots","slots":1}"#, "must be of the type hello"),
  ])
  func whoDoesNotSpeakTheProtocolIsRefusedInWords(_ line: String, _ reason: String) throws {
    let served = try Served()
    let other = try served.attach()
    let raw = try RawReader(try #require(served.programs.first))
    raw.send(line + "\n")
    let answer = try #require(raw.line())
    #expect(answer.contains("refused") && answer.contains(reason), "\(answer)")
    #expect(raw.line() == nil)
    served.feed.post(.slotsChanged(9))
    #expect(eventually { other.snapshot.slots == 9 })
  }

  @Test func halfALineAndALineWithoutEndHarmNobody() throws {
    let served = try Served()
    let other = try served.attach()
    var half: RawReader? = try RawReader(try #require(served.programs.first))
    half?.send(String(hello.dropLast(5)))
    half = nil
    let endless = try RawReader(try #require(served.programs.first))
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
    signal(SIGPIPE, SIG_IGN)
    for _ in 0..<80 where write(endless.descriptor, piece, piece.count) < 0 { break }
    var lines: [String] = []
    while let line = endless.line() { lines.append(line) }
    #expect(lines.count == 1 && lines.first?.contains("a line is too long") == true, "\(lines)")
    served.feed.post(.slotsChanged(9))
    #expect(eventually { other.snapshot.slots == 9 })
  }

  @Test func whoTakesNoAnswersIsReadNoFurther() throws {
    signal(SIGPIPE, SIG_IGN)
    let served = try Served()
    let raw = try RawReader(try #require(served.programs.first))
    raw.send(hello)
    _ = fcntl(raw.descriptor, F_SETFL, O_NONBLOCK)
    // The answer repeats the word.
    let word = String(repeating: "q", count: 1 << 16)
    let command = Array((#"{"type":"command","n":1,"command":""# + word + "\"}\n").utf8)
    var (sent, refusals) = (0, 0)
    while sent < 64 << 20, refusals < 100 {
      let rest = command[(sent % command.count)...]
      let count = rest.withUnsafeBytes { write(raw.descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        (sent, refusals) = (sent + count, 0)
      } else {
        // The server's queue has had its turn once it greets another one.
        refusals += served.programs.count
      }
    }
    #expect(sent < 8 << 20)
  }

  @Test(arguments: [
    #"{"type":"command","n":1,"command":"cancel","jobs":[3]}"#,
    #"{"type":"command","n":1,"command":"cancel","jobs":[-1]}"#,
    #"{"type":"command","n":1,"command":"slots","slots":0}"#,
    #"{"type":"command","n":1,"command":"finish"}"#,
  ])
  func aCommandThatCanNotBeMeantIsAnsweredAndNotCarriedOut(_ command: String) throws {
    let served = try Served()
    let raw = try RawReader(try #require(served.programs.first))
    raw.send(hello + command + "\n")
    while let line = raw.line() {
      guard line.contains(#""type":"answer""#) else { continue }
      #expect(line.contains("reason"))
      break
    }
    #expect(served.feed.commands.isEmpty)
  }
}
