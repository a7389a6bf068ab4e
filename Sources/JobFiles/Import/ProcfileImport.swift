import Basics

/// Makes a job file of a Procfile, as foreman, honcho and overmind read it.
struct ProcfileImport {
  let input: ImportInput

  private var faults: FaultLog { input.faults }

  /// The port of the first process where `.env` has none, and the distance of the ports of two processes.
  private static let port = (first: 5000, step: 100)

  /// The job file; nil after a fault.
  func file() throws(ImportError) -> ImportedFile? {
    var file = ImportedFile()
    file.remarks = [
      "Foreman stops all processes when one ends; opdash, when one fails. A process that ends with status 0 has succeeded."
    ]
    file.keys = [
      ("on_failure", .word("stop-now")), ("shell", .list([.text("/bin/sh"), .text("-c")])),
    ]
    var first = Self.port.first
    if let variables = try input.dotenv() {
      file.keys.append(("dotenv", .text(".env")))
      compare(variables)
      if let text = variables.values["PORT"] {
        if let port = Int(text), (1...65535).contains(port) {
          first = port
        } else {
          faults.add(.start, "PORT in .env is not a port: write a number from 1 to 65535")
        }
      }
    }
    var names = ImportNames()
    var places: [String: Place] = [:]
    for (name, command, place) in lines() {
      if let known = places.updateValue(place, forKey: name) {
        faults.add(place, "\(Quoted.text(name)) is given at \(known.words) already: give one another name")
        continue
      }
      let port = first.plus(file.jobs.count.times(Self.port.step))
      if port > 65535 { faults.add(place, "the port of this process would be \(port): write a lower PORT into .env") }
      var job = ImportedFile.Job(name: names.name(for: name))
      job.keys = [
        ("run", .script(command)), ("env", .map([("PORT", .text(String(port))), ("PS", .text("\(name).1"))])),
        ("service", .yes),
      ]
      file.jobs.append(job)
    }
    return file
  }

  /// Warns of each variable that has another value for foreman, which changes no text outside quotes.
  private func compare(_ variables: ImportInput.Variables) {
    var last: [String: (value: String, line: Int)] = [:]
    var number = 0
    while let line = variables.source.line(number + 1) {
      number += 1
      guard let match = line.wholeMatch(of: /([A-Za-z0-9_]+)=(.*)/) else { continue }
      last[String(match.1)] = variables.source.isCut(number) ? nil : (value: Self.foremanValue(match.2), line: number)
    }
    for (name, foreman) in last.sorted(by: { $0.value.line < $1.value.line }) {
      guard let ours = variables.values[name], ours != foreman.value else { continue }
      faults.warn(
        Place(line: foreman.line, column: 1, file: variables.file),
        "foreman reads another value of \(name): put it into single quotes, which both read alike")
    }
  }

  private static func foremanValue(_ text: Substring) -> String {
    if let quoted = text.wholeMatch(of: /'(.*)'/) { return String(quoted.1) }
    guard let quoted = text.wholeMatch(of: /"(.*)"/) else { return String(text) }
    return String(quoted.1.replacing("\\n", with: "\n").replacing(/\\(.)/) { $0.1 })
  }

  /// The processes in the order of the file; a line that is none is a fault.
  private func lines() -> [(name: String, command: String, place: Place)] {
    var found: [(name: String, command: String, place: Place)] = []
    let source = faults.files[0].source
    var number = 0
    while let line = source.line(number + 1) {
      number += 1
      let text = line.drop { $0 == " " || $0 == "\t" }
      if text.isEmpty || text.hasPrefix("#") { continue }
      let place = Place(line: number, column: 1 + line.count - text.count)
      let name = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }
      let rest = text.dropFirst(name.count)
      let command = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
      guard !name.isEmpty, rest.first == ":", !command.isEmpty else {
        faults.add(place, "this line is not a process: write 'NAME: COMMAND', NAME with letters, digits, '_' and '-'")
        continue
      }
      guard !source.isCut(number) else {
        faults.add(place, "this line is longer than \(SourceText.lineLimit) bytes: put the command into a script")
        continue
      }
      found.append((String(name), String(command), place))
    }
    return found
  }
}
