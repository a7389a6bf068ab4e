import JobModel

extension JobCommand {
  /// The command as a line; nil for one that only the run's own program may give.
  func line(_ number: Int) -> [UInt8]? {
    func command(_ word: String, _ jobs: [JobID]? = nil, _ fields: (inout [UInt8]) -> Void = { _ in }) -> [UInt8] {
      Wire.line("command") { bytes in
        bytes.append(field: "n", number)
        bytes.append(field: "command", word)
        bytes.append(field: "jobs", jobs?.map(\.index))
        fields(&bytes)
      }
    }
    switch self {
    case .cancel(let jobs, _): return command("cancel", jobs)
    case .kill(let jobs): return command("kill", jobs)
    case .pause(let jobs): return command("pause", jobs)
    case .resume(let jobs): return command("resume", jobs)
    case .retry(let jobs, let withDependents):
      return command("retry", jobs) { $0.append(field: "dependents", withDependents) }
    case .setPriority(let jobs, let priority):
      return command("priority", jobs) { $0.append(field: "priority", priority.rawValue) }
    case .setSlots(let slots): return command("slots") { $0.append(field: "slots", slots) }
    case .changeSlots(let change): return command("change_slots") { $0.append(field: "by", change) }
    case .changePool(let pool, let change):
      return command("change_pool") { bytes in
        bytes.append(field: "pool", pool)
        bytes.append(field: "by", change)
      }
    case .setTerminalSize(let columns, let rows):
      return command("terminal_size") { bytes in
        bytes.append(field: "columns", columns)
        bytes.append(field: "rows", rows)
      }
    case .showStack(let jobs): return command("stack", jobs)
    case .approve(let jobs): return command("approve", jobs)
    case .setDraining(let isOn): return command("drain") { $0.append(field: "on", isOn) }
    case .setWatching(let isOn): return command("watch") { $0.append(field: "on", isOn) }
    case .stop(let level, _): return command("stop") { $0.append(field: "level", level.rawValue) }
    case .inputsChanged, .holdReplay, .skipToFailure, .finish: return nil
    }
  }

  /// The command of a person who is attached to a run with this many jobs.
  init(_ fields: JSONFields, jobs count: Int) throws(JSONFault) {
    func jobs() throws(JSONFault) -> [JobID] {
      let numbers: [Int] = try fields.numbers("jobs")
      guard numbers.allSatisfy((0..<count).contains) else { throw JSONFault("'jobs' names a job that there is not") }
      return numbers.map { JobID($0) }
    }
    func whole(_ name: String, in range: ClosedRange<Int>) throws(JSONFault) -> Int {
      try fields.required(name, fields.whole(ifAny: name, in: range))
    }
    let word = try fields.text("command")
    switch word {
    case "cancel": self = .cancel(try jobs(), by: .person)
    case "kill": self = .kill(try jobs())
    case "pause": self = .pause(try jobs())
    case "resume": self = .resume(try jobs())
    case "retry": self = .retry(try jobs(), withDependents: try fields.flag("dependents"))
    case "priority": self = .setPriority(try jobs(), try fields.word("priority"))
    case "slots": self = .setSlots(try whole("slots", in: 1...Self.slotLimit))
    case "change_slots": self = .changeSlots(by: try whole("by", in: -Self.slotLimit...Self.slotLimit))
    case "change_pool":
      self = .changePool(try fields.text("pool"), by: try whole("by", in: -Self.slotLimit...Self.slotLimit))
    case "terminal_size":
      let sizes = 1...Int(UInt16.max)
      self = .setTerminalSize(columns: try whole("columns", in: sizes), rows: try whole("rows", in: sizes))
    case "stack": self = .showStack(try jobs())
    case "approve": self = .approve(try jobs())
    case "drain": self = .setDraining(try fields.flag("on"))
    case "watch": self = .setWatching(try fields.flag("on"))
    case "stop": self = .stop(try fields.word("level"), by: .person)
    default: throw fields.unknown("command", word)
    }
  }

  /// As many as an option can give.
  private static var slotLimit: Int { 100_000 }
}
