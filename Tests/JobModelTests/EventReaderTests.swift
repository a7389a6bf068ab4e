import JobModel
import Testing

@Suite struct EventReaderTests {
  private func start(jobs: Int = 0) -> String {
    #"{"v":1,"seq":0,"t":0,"type":"run_started","run":"r","name":"n","slots":1,"at":"2026-01-01T00:00:00.250Z","#
      + #""jobs":\#(jobs)}"#
  }

  private func job(_ seq: Int, _ name: String, needs: String = "") -> String {
    #"{"v":1,"seq":\#(seq),"t":0,"type":"job_added","job":"\#(name)","kind":"shell","needs":[\#(needs)],"command":"x"}"#
  }

  private func slots(_ seq: Int, at time: String = "0") -> String {
    #"{"v":1,"seq":\#(seq),"t":\#(time),"type":"slots_changed","slots":1}"#
  }

  /// The numbers of the events that each line gives out, or the fault that ends the reading.
  private func read(_ lines: [String]) -> Result<[[Int]], EventFault> {
    var reader = EventReader()
    return Result { () throws(EventFault) in
      var numbers: [[Int]] = []
      for line in lines { numbers.append(try reader.read(line).map(\.seq)) }
      return numbers
    }
  }

  private func fault(_ lines: [String]) -> EventFault? {
    if case .failure(let fault) = read(lines) { return fault }
    return nil
  }

  // MARK: Time

  @Test func timeMayStandStillAndNotGoBack() throws {
    let lines = [start(), slots(1, at: "5"), slots(2, at: "5")]
    #expect(try read(lines + [slots(3, at: "5.000001")]).get().last == [3])
    let message = "'t' is earlier than in the line before"
    #expect(fault(lines + [slots(3, at: "4.999999")]) == EventFault(line: 4, message: message))
    // It is the last line that counts, not the first.
    #expect(fault(lines + [slots(3, at: "9"), slots(4, at: "8")]) == EventFault(line: 5, message: message))
  }

  @Test func timeIsNoLongerThanAnyRun() throws {
    #expect(try read([start(), slots(1, at: "360000000")]).get().last == [1])
    let message = "'t' is longer than any run"
    #expect(fault([start(), slots(1, at: "360000000.000001")]) == EventFault(line: 2, message: message))
  }

  // MARK: Order

  @Test(arguments: [0, 2, 4]) func numbersComeOneByOne(number: Int) {
    let message = "'seq' is \(number) where 3 comes next: lines are missing"
    #expect(fault([start(), slots(1), slots(2), slots(number)]) == EventFault(line: 4, message: message))
  }

  @Test func theStartIsTheFirstEventAndNoOther() {
    let message = "'run_started' must be the first event, and no other"
    #expect(fault([slots(0)]) == EventFault(line: 1, message: message))
    let again = start().replacing("\"seq\":0", with: "\"seq\":1")
    #expect(fault([start(), again]) == EventFault(line: 2, message: message))
  }

  @Test func anEmptyLineIsCountedAndGivesNothing() throws {
    #expect(try read([start(), "", "\n", slots(1)]).get() == [[0], [], [], [1]])
    #expect(fault([start(), "", "\n", "x"])?.line == 4)
  }

  // MARK: Jobs that are missing

  @Test func eventsWaitUntilTheDeclaredJobsAreThere() throws {
    let lines = [start(jobs: 2), job(1, "a"), job(2, "b"), slots(3)]
    #expect(try read(lines).get() == [[], [], [0, 1, 2], [3]])
    var reader = EventReader()
    var isHolding: [Bool] = []
    for line in lines {
      _ = try reader.read(line)
      isHolding.append(reader.isHolding)
    }
    #expect(isHolding == [true, true, false, false])
  }

  @Test func eventsWaitForALaterJobThatOneNeeds() throws {
    let need = #"{"id":2,"when":"ok"}"#
    let lines = [start(), job(1, "a", needs: need), slots(2), job(3, "b"), job(4, "c"), job(5, "d", needs: need)]
    #expect(try read(lines).get() == [[0], [], [], [], [1, 2, 3, 4], [5]])
  }

  @Test func aFaultNamesItsLine() {
    #expect(EventFault(line: 3, message: "this is no JSON object").description == "line 3: this is no JSON object")
  }

  @Test func aJobIsFoundByItsNumberOrByItsName() throws {
    var reader = EventReader()
    for line in [start(), job(1, "a"), job(2, "b"), job(3, "b")] { _ = try reader.read(line) }
    func low(_ seq: Int, _ job: String) -> String {
      #"{"v":1,"seq":\#(seq),"t":0,"type":"priority_changed",\#(job),"priority":"low"}"#
    }
    let jobs = [#""job":"a""#, #""id":0"#, #""job":"a","id":0"#, #""job":"b","id":2"#, #""job":null,"id":1"#]
    for (place, (job, id)) in zip(jobs, [0, 0, 0, 2, 1]).enumerated() {
      #expect(try reader.read(low(4 + place, job)).map(\.fact) == [.priorityChanged(JobID(id), .low)])
    }
    let message = "'job' is 'b': there is no such job, or several without 'id'"
    #expect(throws: EventFault(line: 10, message: message)) { try reader.read(low(9, #""job":"b""#)) }
  }
}
