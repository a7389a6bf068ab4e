/// Collects the faults and warnings of a file and its included files, each once, even if an alias or a default repeats
/// it.
final class FaultLog {
  /// A file that places are in.
  struct File {
    /// Its name in messages.
    var name: String
    var source: SourceText
    /// The absolute folder of its relative paths.
    var directory: String
    /// Whether its lines may be shown.
    var isShown = true
  }

  private struct Entry: Hashable {
    var place: Place
    var message: Message
  }

  private struct Message: Hashable {
    var text: String
    var isWarning: Bool
    /// Whether secrets are looked for in it.
    var isMasked = true
  }

  /// The files by the number in their places.
  private(set) var files: [File]
  /// The kind of file in messages.
  let kind: String
  private var entries: Set<Entry> = []
  private var messages: Set<Message> = []
  private var warningCount = 0
  private var hasFaults = false
  /// Whether there are more faults than are reported, so that looking for others is of no use.
  private(set) var isCut = false
  /// The values of the secrets that are known so far, which are replaced in messages and in the lines of the files.
  var secrets: Set<String> = []
  /// How many different messages are reported: more would not help, and a file of another kind can have millions.
  static let limit = 100
  /// How many places of all messages are remembered.
  private static let placeLimit = 10_000
  /// How many places of one message are reported by themselves; of more, the first stands for all.
  private static let listed = 3

  /// The end of each file: faults are not placed after it, where libyaml assumes a line break.
  private var ends: [Int: Place] = [:]

  init(file: String, source: SourceText, directory: String = "/", kind: String = "a job file") {
    files = [File(name: file, source: source, directory: directory)]
    self.kind = kind
  }

  /// Adds a file, whose number is the number of those before it.
  func add(_ file: File) { files.append(file) }

  /// Sets the text that places are in.
  func replaceSource(of file: Int, by source: SourceText) { files[file].source = source }

  func source(at place: Place) -> SourceText { files[place.file].source }

  /// A place as a message at another place names it: with its file, if that is another one.
  func words(_ place: Place, from other: Place) -> String {
    (place.file == other.file ? "" : "\(Quoted.bare(files[place.file].name)), ") + place.words
  }

  /// Whether the file is free of faults; warnings don't count.
  var isEmpty: Bool { !hasFaults }

  func add(_ place: Place, _ message: String) { add(place, message, isWarning: false) }

  /// Adds a warning, which leaves the file usable; one that holds no text of the file or the environment may stay unmasked.
  func warn(_ place: Place, _ message: String, isMasked: Bool = true) {
    add(place, message, isWarning: true, isMasked: isMasked)
  }

  private func add(_ place: Place, _ text: String, isWarning: Bool, isMasked: Bool = true) {
    if !isWarning { hasFaults = true }
    guard isWarning || !isCut else { return }
    let message = Message(text: text, isWarning: isWarning, isMasked: isMasked)
    let entry = Entry(place: min(place, end(of: place.file)), message: message)
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

  private func end(of file: Int) -> Place {
    if let end = ends[file] { return end }
    let end = files[file].source.end.of(file: file)
    ends[file] = end
    return end
  }

  /// Adds the fault of a value that can't be read.
  func fail<Value>(_ place: Place, _ message: String) -> Value? {
    add(place, message)
    return nil
  }

  /// The faults and warnings in order, at least one; if some are left out, the last says so.
  var all: JobFileFaults { JobFileFaults(list) }

  /// The faults and warnings in order, the job file's first; if some are left out, the last says so.
  var list: [JobFileFault] {
    var found = Dictionary(grouping: entries, by: \.message).flatMap { message, entries -> [Entry] in
      let places = entries.map(\.place).sorted()
      guard places.count > Self.listed else { return entries }
      var first = Entry(place: places[0], message: message)
      let isNear = places[1].file == places[0].file
      let line = "line \(places[1].line)\(isNear ? "" : " of \(Quoted.bare(files[places[1].file].name))")"
      first.message.text += " (and \(places.count - 1) more like it, the next on \(line))"
      return [first]
    }
    found.sort { ($0.place, $0.message.text) < ($1.place, $1.message.text) }
    let mask = MessageMask(secrets)
    var list = found.map { fault($0, mask) }
    if isCut, var more = list.last {
      more.message = "and more: only \(Self.limit) faults are reported"
      (more.isWarning, more.excerpt) = (false, nil)
      list.append(more)
    }
    return list
  }

  private func fault(_ entry: Entry, _ mask: MessageMask?) -> JobFileFault {
    let (file, place) = (files[entry.place.file], entry.place)
    let excerpt = file.isShown ? file.source.excerpt(at: place) : nil
    let text = entry.message.isMasked ? mask?.masked(entry.message.text) : nil
    return JobFileFault(
      file: file.name, line: place.line, column: place.column, message: text ?? entry.message.text,
      isWarning: entry.message.isWarning, excerpt: mask.map { excerpt?.masked($0) } ?? excerpt)
  }
}
