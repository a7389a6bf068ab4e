import JobModel

@testable import Remote

/// What the program with a run and one that is attached say to each other, with some lines changed.
enum Conversing {
  /// The states of a run and the events between them, as a server sends them.
  static func conversation(_ noise: inout Noise, of events: [JobEvent]) -> [[UInt8]] {
    var bytes: [UInt8] = []
    var run = Run()
    var writer = EventWriter()
    for (place, event) in events.enumerated() {
      if place == 3 || noise.chance(in: 8) {
        bytes += Wire.clock(began: .seconds(1), answered: 1)
        var state = RunStateWriter(run, logLines: 10)
        while !state.isDone { state.appendNext(to: &bytes) }
        writer = EventWriter(after: run)
      }
      run.apply(event)
      writer.append(event, to: &bytes)
    }
    var lines = bytes.split(separator: 0x0A).map(Array.init)
    while !noise.isEmpty, !lines.isEmpty {
      let place = Int(noise.byte()) * lines.count / 256
      switch noise.byte() % 5 {
      case 0: lines.remove(at: place)
      case 1: lines.insert(lines[place], at: Int(noise.byte()) * lines.count / 256)
      case 2: lines[place].removeLast(min(lines[place].count, Int(noise.byte())))
      default: replaceNumber(in: &lines[place], &noise)
      }
    }
    return lines
  }

  /// Puts another number into the place of the one that follows a place in the line, if any does.
  private static func replaceNumber(in line: inout [UInt8], _ noise: inout Noise) {
    let isDigit: (UInt8) -> Bool = { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let place = Int(noise.byte()) * line.count / 256
    guard let start = line[place...].firstIndex(where: isDigit) else { return }
    let end = line[start...].firstIndex { !isDigit($0) } ?? line.count
    line.replaceSubrange(start..<end, with: noise.number().utf8)
  }

  /// The run that an attached program has after these lines, and in front of the first faulty one.
  static func run(of lines: some Sequence<[UInt8]>) -> Run {
    var run: Run?
    var events = EventReader()
    var snapshot: RunStateReader?
    func read(_ line: [UInt8]) throws {
      let fields = try line.withUnsafeBufferPointer { line in
        Result { () throws(JSONFault) in try JSONScanner.fields(of: line) }
      }.get()
      let type = try fields.text("type")
      if type == "greeting" { return _ = try Greeting(fields, pid: 1) }
      if type == "answer" { return _ = try (fields.count("n"), fields.text(ifAny: "reason")) }
      if type == "clock" {
        _ = try fields.duration("began")
        return snapshot = RunStateReader()
      }
      guard let part = RunStateReader.Line(rawValue: type) else {
        for event in try events.read(fields) { run?.apply(event) }
        return
      }
      guard let (whole, next) = try snapshot?.read(part, fields) else { return }
      if let old = run, let changes = old.events(to: whole) {
        var folded = old
        for event in changes { folded.apply(event) }
        // Two states with the same number are the same, if nobody has changed one.
        precondition(changes.isEmpty || folded == whole, "the changes lead to another run")
      }
      (run, events, snapshot) = (whole, next, nil)
    }
    for line in lines { do { try read(line) } catch { break } }
    return run ?? Run()
  }

  /// The first line and the commands of an attached program.
  static func command(_ line: [UInt8]) {
    let fields = line.withUnsafeBufferPointer { line in
      Result { () throws(JSONFault) in try JSONScanner.fields(of: line) }
    }
    guard let fields = try? fields.get() else { return }
    _ = try? Hello(fields)
    if case .cancel(let jobs, _)? = try? JobCommand(fields, jobs: 4) {
      precondition(jobs.allSatisfy { (0..<4).contains($0.index) }, "a job that there is not")
    }
  }
}
