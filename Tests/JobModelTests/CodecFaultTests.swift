import Foundation
import JobModel
import Support
import Testing

@Suite struct CodecFaultTests {
  private static let start =
    #"{"v":1,"seq":0,"t":0,"type":"run_started","run":"r","name":"n","slots":1,"at":"2026-01-01T00:00:00.250Z","jobs":1}"#
  private static let job =
    #"{"v":1,"seq":1,"t":0,"type":"job_added","job":"a","kind":"shell","needs":[],"command":"x"}"#

  @Test(arguments: [
    (
      #"{"v":2,"seq":2,"t":0,"type":"x"}"#,
      "the events are of version 2, which a newer opdash wrote: read them with that one"
    ),
    (
      #"{"v":1,"seq":3,"t":0,"type":"drain_changed","draining":true}"#,
      "'seq' is 3 where 2 comes next: lines are missing"
    ),
    (#"{"v":1,"seq":2,"t":0,"type":"job_moved"}"#, "'type' is 'job_moved', which this version of opdash does not know"),
    (
      #"{"v":1,"seq":2,"t":-1,"type":"slots_changed","slots":1}"#,
      "'t' must be a number of seconds, not negative and with at most 18 decimals"
    ),
    (
      #"{"v":1,"seq":2,"t":1e300,"type":"slots_changed","slots":1}"#,
      "'t' must be a number of seconds, not negative and with at most 18 decimals"
    ),
    (#"{"v":1,"seq":2,"t":999999999,"type":"slots_changed","slots":1}"#, "'t' is longer than any run"),
    (#"{"v":1,"seq":2,"t":0,"type":"slots_changed"}"#, "'slots' is missing"),
    (
      #"{"v":1,"seq":2,"t":0,"type":"slots_changed","slots":1.5}"#,
      "'slots' must be a whole number from 0 to 1000000000"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"slots_changed","slots":99999999999999999999}"#,
      "'slots' must be a whole number from 0 to 1000000000"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_log","job":"b","stream":"stdout","text":"","attempt":1}"#,
      "'job' is 'b': there is no such job, or several without 'id'"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_log","id":7,"stream":"stdout","text":"","attempt":1}"#,
      "'id' is 7: there is no such job"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_log","job":"a","stream":"tty","text":"","attempt":1}"#,
      "'stream' is 'tty', which this version of opdash does not know"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_state","job":"a","state":"lost","attempt":1}"#,
      "'state' is 'lost', which this version of opdash does not know"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_progress","job":"a","done":-9223372036854775808,"total":null,"unit":"steps"}"#,
      "'done' must be a whole number from 0 to 9223372036854775807"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_added","job":"b","kind":"shell","needs":[{"id":1,"when":"ok"}],"command":"x"}"#,
      "the job 'b' needs itself"
    ),
    (#"{"v":1,"seq":2,"t":0,"type":"run_started"}"#, "'run_started' must be the first event, and no other"),
    (#"{"v":1,"seq":2,"t":0,"type":"slots_changed","slots":1"#, "the JSON object ends before its closing brace"),
    (#"{"v":1,"seq":02,"t":0,"type":"slots_changed","slots":1}"#, "not JSON from column 15 on"),
    ("[]", "this is no JSON object"),
    (String(repeating: "[", count: 100_000), "not JSON from column 9 on"),
    ("{\"a\":\"\t\"}", "not JSON from column 7 on"),
    (#"{"a":"\ud800"}"#, "not JSON from column 13 on"),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_added","job":"b","id":3,"kind":"simulate","duration":0,"steps":1}"#,
      "'id' is 3 where 1 comes next"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_added","job":"b","kind":"shell","needs":[1],"command":"x"}"#,
      "'needs' must be a list of objects"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_added","job":"b","kind":"shell","parent_id":1,"parent":"b","command":"x"}"#,
      "the job 'b' is a part of itself"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_added","job":"b","kind":"shell","parent_id":2,"parent":"c","command":"x"}"#,
      "'parent_id' is 2: there is no such job"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_added","job":"b","kind":"email"}"#,
      "'kind' is 'email', which this version of opdash does not know"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_added","job":"b","kind":"shell","command":"x","#
        + #""retry":{"backoff":"constant","initial":1,"cap":1,"jitter":true,"exits":[1,"2"]}}"#,
      "'exits' must be a list of whole numbers"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_added","job":"b","kind":"shell","command":"x","#
        + #""retry":{"backoff":"constant","initial":1,"cap":1,"jitter":true,"only":["rain"]}}"#,
      "'only' is 'rain', which this version of opdash does not know"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"priority_changed","job":"a","id":1,"priority":"low"}"#,
      "'id' is 1: there is no such job"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"priority_changed","job":"b","id":0,"priority":"low"}"#,
      "'job' is not the name of job 0"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"priority_changed","priority":"low"}"#,
      "'job' is missing"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_state","job":"a","state":"ready","attempt":0,"for":"luck"}"#,
      "'for' is 'luck', which this version of opdash does not know"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_state","job":"a","state":"skipped","attempt":0,"for":"luck"}"#,
      "'for' is 'luck', which this version of opdash does not know"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_state","job":"a","state":"failed","attempt":1,"cause":"rain","reason":"x"}"#,
      "'cause' is 'rain', which this version of opdash does not know"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_state","job":"a","state":"executing","attempt":1,"pid":2147483648}"#,
      "'pid' must be a whole number from 0 to 2147483647"
    ),
    (
      #"{"v":1,"seq":2,"t":0,"type":"job_restored","job":"a","run":"r","at":"yesterday","took":1}"#,
      "'at' must be a time such as 2026-01-01T00:00:00.250Z"
    ),
  ])
  func aDamagedLineIsNamedWithItsNumberAndItsFault(_ line: String, _ message: String) {
    let bytes = Array("\(Self.start)\n\(Self.job)\n\(line)\n".utf8)
    #expect(throws: EventFault(line: 3, message: message)) { try Recording(bytes) }
  }

  @Test func bytesThatAreNotTextAreAFault() {
    let bytes = Array("\(Self.start)\n".utf8) + [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D, 0x0A]
    #expect(throws: EventFault(line: 2, message: "not UTF-8 before column 5")) { try Recording(bytes) }
  }

  @Test func aFileWithoutEventsIsAFault() {
    #expect(throws: EventFault(line: 1, message: "there are no events: a run has at least one")) {
      try Recording([UInt8]())
    }
  }

  /// Mutations that stay valid are folded too: no event that is read may break the fold.
  @Test func noMutationOfALineBreaksTheReader() throws {
    var random = SplitMix(seed: 13)
    let lines = RandomRun(seed: 1, jobs: 12, facts: 60).events.ndjson.split(separator: UInt8(ascii: "\n")).map(
      Array.init)
    // The state before each line, so that a trial begins at its mutation.
    var (reader, run) = (EventReader(), Run())
    var states: [(reader: EventReader, run: Run)] = []
    for line in lines {
      states.append((reader, run))
      for event in try line.withUnsafeBufferPointer({ try reader.read($0) }) { run.apply(event) }
    }
    var (readable, faults) = (0, 0)
    for _ in 0..<20_000 {
      var mutated = MutatedLines(lines)
      for _ in 0...(random.next() % 2) { mutated.mutate(&random) }
      var (reader, run) = states[mutated.first]
      do throws(EventFault) {
        for line in mutated.lines[mutated.first...] {
          for event in try reader.read(String(decoding: line, as: UTF8.self)) { run.apply(event) }
        }
        readable += 1
      } catch {
        #expect(error.line > 0 && !error.message.isEmpty)
        faults += 1
      }
    }
    #expect(readable > 100 && faults > 10_000)
  }
}
