import Foundation
import Operations

/// Reads progress from output in the formats of well-known tools, for jobs without their own pattern.
///
/// Output is full of numbers, so few of them are trusted: a bare percentage only on a redrawn line, and scrolling lines
/// only if their counter starts low and keeps rising. Progress that falls is the next phase of a tool (git, pip); a
/// number that falls too often is discarded. Progress that is complete, or no longer drawn, is withdrawn.
struct KnownProgress: Sendable {
  struct Reading: Equatable {
    var done: Int64
    var total: Int64
    /// Whether the reading comes from a redrawn line.
    var isRedrawn = false
    /// Whether the reading counts the files of a tool that also prints the progress of each file.
    var isOfFiles = false

    var isComplete: Bool { done >= total }

    func isBehind(_ other: Reading) -> Bool {
      // The total of a build may grow.
      done < other.done && Double(done) / Double(total) < Double(other.done) / Double(other.total)
    }
  }

  /// How many of the newest lines and redraws of a piece of output are examined; a flood costs no more.
  private static let depth = 8
  /// How often progress may fall back.
  private static let phases = 8
  /// How many lines may follow the last drawing of a bar before the bar counts as gone.
  private static let patience = 16

  private var shown: Reading?
  /// A reading of a first line, until the next line confirms it.
  private var candidate: Reading?
  private var falls = 0
  /// How many lines have ended since the last reading.
  private var linesSince = 0

  /// The progress that the output shows; an empty progress once it is no longer known, nil without a change.
  mutating func newest(in output: LineSplitter.Output) -> OperationProgress? {
    guard falls < Self.phases else { return nil }
    var reading: Reading?
    var place = 0
    var looks = (lines: 0, redraws: 0)
    output.searchNewestFirst { text, line, isRedraw in
      if isRedraw { looks.redraws += 1 } else { looks.lines += 1 }
      guard max(looks.lines, looks.redraws) <= Self.depth else { return true }
      reading = Self.reading(of: text, isRedrawn: isRedraw)
      place = line
      return reading != nil
    }
    let ended = output.lines.count { !$0.isUnfinished }
    guard let reading else {
      linesSince += ended
      return withdraw()
    }
    linesSince = max(0, ended - 1 - place)
    return take(reading) ?? withdraw()
  }

  private mutating func take(_ reading: Reading) -> OperationProgress? {
    if let shown {
      if shown.isOfFiles, !reading.isOfFiles { return nil }
      if reading.isBehind(shown), shown.isOfFiles == reading.isOfFiles {
        falls += 1
        if falls == Self.phases {
          self.shown = nil
          return OperationProgress()
        }
        if !reading.isRedrawn, !isConfirmed(reading) { return nil }
      }
    } else if !reading.isRedrawn, !isConfirmed(reading) {
      return nil
    }
    shown = reading
    return OperationProgress(completed: reading.done, total: reading.total)
  }

  /// Whether an earlier line had a lower count of the same total.
  private mutating func isConfirmed(_ reading: Reading) -> Bool {
    defer { candidate = reading }
    return candidate.map { $0.total == reading.total && $0.done < reading.done } ?? false
  }

  private mutating func withdraw() -> OperationProgress? {
    guard let shown, shown.isComplete ? linesSince > 0 : shown.isRedrawn && linesSince > Self.patience else {
      return nil
    }
    self.shown = nil
    candidate = nil
    return OperationProgress()
  }

  // MARK: The forms

  private struct Form: Sendable {
    let expression: NSRegularExpression
    /// Whether the form is trusted only on a redrawn line.
    let mustBeRedrawn: Bool

    init(_ pattern: StaticString, mustBeRedrawn: Bool = false) {
      do { expression = try NSRegularExpression(pattern: "\(pattern)") } catch { preconditionFailure("\(error)") }
      self.mustBeRedrawn = mustBeRedrawn
    }
  }

  /// One group is a percentage, two are done and total; the first form that matches counts.
  private static let forms = [
    // ninja, and package managers that count: `[12/345] CC main.o`, `(1/3) installing zlib`
    Form(#"^\s*[\[(]\s*(\d+)\s*/\s*(\d+)[\])\s]"#),
    // CMake's makefiles: `[ 42%] Building C object`
    Form(#"^\s*[\[(]\s*(\d{1,3})%\s*[\])]"#),
    // pytest: `tests/test_api.py ....   [ 42%]`
    Form(#"\s\[\s*(\d{1,3})%\]\s*$"#),
    // docker's classic builder: `Step 3/7 : RUN make`
    Form(#"^Step (\d+)/(\d+) :"#),
    // wget without a terminal: ` 50K .......... ..........  4%  226M 0s`
    Form(#"^\s*\d+K [., ]+\s(\d{1,3})%"#),
    // curl's table, whose first column is a percentage, and 0 while the size is not known
    Form(
      #"^\s*([1-9]\d{0,2})\s+\S+\s+\d{1,3}\s+\S+\s+\d{1,3}(?:\s+\S+){3}(?:\s+(?:[\d-]+:[\d-]+:[\d-]+|\d+d(?:\s+\d+h)?)){3}\s"#,
      mustBeRedrawn: true),
    // git, wget, rsync, `curl -#`, apt, tqdm, pv
    Form(#"(?<![\w.,/-])(\d{1,3}(?:\.\d+)?) ?%(?!\w)"#, mustBeRedrawn: true),
    // cargo: `Building [=====>   ] 12/345: serde`
    Form(#"\]\s+(\d+)/(\d+)(?=[:\s]|$)"#, mustBeRedrawn: true),
    // pip: `1.2/5.6 MB 3.4 MB/s eta 0:00:02`
    Form(#"(?<![\w./])(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?) (?:[kKMGT]i?B|bytes)\b"#, mustBeRedrawn: true),
    // a count after some words: `Resolving packages (12/345)`
    Form(#"\s[\[(]\s*(\d+)\s*/\s*(\d+)\s*[\])]"#, mustBeRedrawn: true),
  ]

  /// rsync: `100%    8.73MB/s    0:00:00 (xfr#1, to-chk=3/5)`; the percentage belongs to a single file.
  private static let files = Form(#"(?<!\d)100%.*\(xfr#\d+, (?:to|ir)-chk=(\d+)/(\d+)\)"#)

  static func reading(of text: String, isRedrawn: Bool) -> Reading? {
    guard mayTell(text.utf8, isRedrawn) else { return nil }
    let text = OutputPattern.visible(text) as NSString
    let range = NSRange(location: 0, length: min(text.length, ProgressPattern.width))
    if let counts = numbers(files, text, range), counts.count == 2, counts[1] > 0,
      counts[1] < ProgressPattern.limit, counts[0] <= counts[1]
    {
      let done = Int64(counts[1] - counts[0])
      return Reading(done: done, total: Int64(counts[1]), isRedrawn: isRedrawn, isOfFiles: true)
    }
    for form in forms where isRedrawn || !form.mustBeRedrawn {
      guard let numbers = numbers(form, text, range), let done = numbers.first else { continue }
      let total = numbers.count == 2 ? numbers[1] : 100
      guard done <= total, let counts = ProgressPattern.counts(done, of: total) else { continue }
      return Reading(done: counts.done, total: counts.total, isRedrawn: isRedrawn)
    }
    return nil
  }

  private static func numbers(_ form: Form, _ text: NSString, _ range: NSRange) -> [Double]? {
    guard let match = form.expression.firstMatch(in: text as String, range: range) else { return nil }
    return (1...form.expression.numberOfCaptureGroups).compactMap { Double(text.substring(with: match.range(at: $0))) }
  }

  /// Excludes nearly all lines without a search.
  private static func mayTell(_ text: String.UTF8View, _ isRedrawn: Bool) -> Bool {
    if isRedrawn { return text.contains(where: \.isASCIIDigit) }
    var start = text.drop { $0 == UInt8(ascii: " ") }
    while start.first == 0x1B {
      start = start.dropFirst(2).drop { (0x20..<0x40).contains($0) }.dropFirst().drop { $0 == UInt8(ascii: " ") }
    }
    switch start.first {
    case UInt8(ascii: "["), UInt8(ascii: "("):
      return start.dropFirst().first { $0 != UInt8(ascii: " ") }.map { $0.isASCIIDigit || $0 == 0x1B } ?? false
    case let digit? where digit.isASCIIDigit: return start.drop(while: \.isASCIIDigit).first == UInt8(ascii: "K")
    case UInt8(ascii: "S"): return start.starts(with: "Step ".utf8)
    default: return text.suffix(8).contains(UInt8(ascii: "%"))
    }
  }
}
