import Operations

/// Splits the bytes of one stream into lines, in whatever chunks they arrive, and keeps the unfinished line.
package struct LineSplitter {
  /// The maximum length of a line in bytes; longer lines are cut.
  static let limit = RedrawnLine.limit

  /// The lines that a piece of output completes.
  package struct Output {
    package var lines: [OperationLogLine] = []
    /// Texts that were shown before a line was redrawn, and the index of that line among `lines`.
    var redraws: [(line: Int, text: String)] = []

    /// Calls `body` with each text and the index of its line, the newest first, until it returns true.
    ///
    /// The last text of a redrawn line comes twice, as a line and as a redraw.
    func searchNewestFirst(_ body: (_ text: String, _ line: Int, _ isRedraw: Bool) -> Bool) {
      var redraw = redraws.count - 1
      for line in stride(from: lines.count, through: 0, by: -1) {
        if line < lines.count, body(lines[line].text, line, lines[line].isUnfinished) { return }
        while redraw >= 0, redraws[redraw].line >= line {
          if body(redraws[redraw].text, line, true) { return }
          redraw -= 1
        }
      }
    }
  }

  private let source: OperationLogLine.Source
  private var partial: [UInt8] = []
  private var isCut = false
  /// The line that replaces `partial`, once its output has moved the cursor.
  private var redrawn: RedrawnLine?
  /// The text of the unfinished line that was last taken.
  private var taken = ""
  /// The number of lines that have ended.
  private(set) var ended = 0
  /// Whether the unfinished line has received bytes since it was last taken.
  private(set) var hasNews = false

  package init(_ source: OperationLogLine.Source) { self.source = source }

  /// The lines that `bytes` complete.
  package mutating func feed(_ bytes: [UInt8]) -> Output {
    var output = Output()
    var rest = bytes[...]
    let mayMove = redrawn != nil || rest.moveCursor
    while let end = rest.place(of: UInt8(ascii: "\n")) {
      var line = rest[..<end]
      while line.last == 0x0D { line.removeLast() }
      take(line, mayMove: mayMove, &output)
      if let last = redrawn?.lastRedraw { output.redraws.append((output.lines.count, last)) }
      output.lines.append(flush())
      rest = rest[(end + 1)...]
    }
    take(rest, mayMove: mayMove, &output)
    return output
  }

  /// The last line, if the stream ended without a line feed.
  mutating func finish() -> OperationLogLine? {
    guard text(isWhole: true).text.isEmpty else { return flush() }
    hasNews = true
    return takeUnfinished()
  }

  /// The unfinished line, if its text has changed since the last time; a line without text was erased.
  package mutating func takeUnfinished() -> OperationLogLine? {
    guard hasNews else { return nil }
    hasNews = false
    let (text, isCut) = text(isWhole: false)
    guard text != taken else { return nil }
    taken = text
    return OperationLogLine(text: text, source: source, isCut: isCut, isUnfinished: true)
  }

  private mutating func take(_ bytes: ArraySlice<UInt8>, mayMove: Bool, _ output: inout Output) {
    guard !bytes.isEmpty else { return }
    hasNews = true
    if redrawn == nil, mayMove, bytes.moveCursor {
      redrawn = RedrawnLine(partial, isCut: isCut)
      partial.removeAll(keepingCapacity: true)
    }
    guard redrawn == nil else {
      var redraws: [String] = []
      redrawn?.write(bytes, keeping: &redraws)
      output.redraws += redraws.map { (output.lines.count, $0) }
      return
    }
    let room = Self.limit - partial.count
    if bytes.count > room { isCut = true }
    partial.append(contentsOf: bytes.prefix(max(0, room)))
  }

  private func text(isWhole: Bool) -> (text: String, isCut: Bool) {
    if let redrawn { return redrawn.line }
    // A cut may have split a scalar, and the rest of an unfinished line's last scalar may still come.
    let end = isWhole && !isCut ? partial.endIndex : partial[...].wholeScalars
    return (String(decoding: partial[..<end], as: UTF8.self), isCut)
  }

  private mutating func flush() -> OperationLogLine {
    let (text, isCut) = text(isWhole: true)
    if redrawn != nil { redrawn = nil }
    partial.removeAll(keepingCapacity: true)
    self.isCut = false
    taken = ""
    hasNews = false
    ended += 1
    return OperationLogLine(text: text, source: source, isCut: isCut)
  }
}
