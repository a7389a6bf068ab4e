/// Collects the faults and warnings of one file, each once, even if an alias or a default leads to it again.
final class FaultLog {
  private struct Entry: Hashable {
    var place: Place
    var message: Message
  }

  private struct Message: Hashable {
    var text: String
    var isWarning: Bool
  }

  private let file: String
  /// The kind of file in messages.
  let kind: String
  let source: SourceText
  private var entries: Set<Entry> = []
  private var messages: Set<Message> = []
  private var warningCount = 0
  private var hasFaults = false
  /// Whether there are more faults than are reported, so that looking for others is of no use.
  private(set) var isCut = false
  /// How many different messages are reported: a person mends these first, and a file that is no job file can have millions.
  static let limit = 100
  /// How many places of all messages are remembered.
  private static let placeLimit = 10_000
  /// How many places of one message are reported by themselves; of more, the first stands for all.
  private static let listed = 3

  /// Faults are not placed after it: libyaml assumes a line break at the end.
  private lazy var end = source.end

  init(file: String, source: SourceText, kind: String = "a job file") {
    self.file = file
    self.kind = kind
    self.source = source
  }

  /// Whether there are no faults; warnings don't count.
  var isEmpty: Bool { !hasFaults }

  func add(_ place: Place, _ message: @autoclosure () -> String) { add(place, message(), isWarning: false) }

  /// Adds a warning, which leaves the file usable.
  func warn(_ place: Place, _ message: @autoclosure () -> String) { add(place, message(), isWarning: true) }

  private func add(_ place: Place, _ text: @autoclosure () -> String, isWarning: Bool) {
    if !isWarning { hasFaults = true }
    guard isWarning || !isCut else { return }
    let message = Message(text: text(), isWarning: isWarning)
    let entry = Entry(place: min(place, end), message: message)
    guard !entries.contains(entry) else { return }
    let isNew = !messages.contains(message)
    let room = isNew ? Self.limit - (isWarning ? warningCount : messages.count - warningCount) : 1
    guard room > 0, entries.count < Self.placeLimit else {
      // Warnings that are too many are dropped: they must not take the place of faults.
      if !isWarning { isCut = true }
      return
    }
    if isNew, isWarning { warningCount += 1 }
    messages.insert(message)
    entries.insert(entry)
  }

  /// Adds the fault of a value that can't be read.
  func fail<Value>(_ place: Place, _ message: @autoclosure () -> String) -> Value? {
    add(place, message())
    return nil
  }

  /// The faults and warnings in order, of which there must be at least one; if some are left out, the last says so.
  var all: JobFileFaults { JobFileFaults(list) }

  /// The faults and warnings in order; if some are left out, the last says so.
  var list: [JobFileFault] {
    var list = Dictionary(grouping: entries, by: \.message).flatMap { message, entries -> [JobFileFault] in
      let places = entries.map(\.place).sorted()
      guard places.count > Self.listed else { return places.map { fault($0, message) } }
      var first = fault(places[0], message)
      first.message += " (and \(places.count - 1) more like it, the next on line \(places[1].line))"
      return [first]
    }
    list.sort { ($0.line, $0.column, $0.message) < ($1.line, $1.column, $1.message) }
    for index in list.indices {
      list[index].excerpt = source.excerpt(at: Place(line: list[index].line, column: list[index].column))
    }
    if isCut, var more = list.last {
      more.message = "and more: only \(Self.limit) faults are reported"
      (more.isWarning, more.excerpt) = (false, nil)
      list.append(more)
    }
    return list
  }

  private func fault(_ place: Place, _ message: Message) -> JobFileFault {
    JobFileFault(
      file: file, line: place.line, column: place.column, message: message.text, isWarning: message.isWarning)
  }
}
