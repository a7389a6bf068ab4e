import JobModel

/// Finds the duration that is meant by text that is none: `10`, `5 minutes`, `00:10:00`, `1 h 30`, `PT10M`.
enum DurationAdvice {
  /// The text to write instead; nil where none is likely.
  static func of(_ text: String) -> String? {
    let text = text.lowercased()
    if text.allSatisfy(isDigit), let number = Int(text) {
      return valid("\(number)s").map { "\($0), or \(number)m for minutes" }
    }
    // Slurm's days before the hours.
    if let parts = text.wholeMatch(of: /(\d{1,3})-(\d{1,2})(?::(\d\d))?(?::(\d\d))?/) {
      let numbers = [24 * (Int(parts.1) ?? 0) + (Int(parts.2) ?? 0), Int(parts.3 ?? "") ?? 0, Int(parts.4 ?? "") ?? 0]
      return valid(zip(numbers, ["h", "m", "s"]).filter { $0.0 > 0 }.map { "\($0)\($1)" }.joined())
    }
    if let parts = text.wholeMatch(of: /(\d+):(\d\d)(?::(\d\d))?/) {
      let numbers = [parts.1, parts.2, parts.3 ?? ""].map { Int($0) ?? 0 }
      let units = parts.3 == nil ? ["m", "s", ""] : ["h", "m", "s"]
      return valid(zip(numbers, units).filter { $0.0 > 0 && !$0.1.isEmpty }.map { "\($0)\($1)" }.joined())
    }
    return valid(written(text.hasPrefix("pt") ? text.dropFirst(2) : text[...]))
  }

  /// The text with the units of job files; empty if a word isn't a unit.
  private static func written(_ text: Substring) -> String {
    let separators: Set<Character> = [" ", ",", "-", "_"]
    var result = ""
    var last = ""
    var rest = text.drop(while: separators.contains)
    while !rest.isEmpty {
      let number = rest.prefix { isDigit($0) || $0 == "." }
      rest = rest[number.endIndex...].drop(while: separators.contains)
      let word = rest.prefix { $0.isLetter }
      rest = rest[word.endIndex...].drop { separators.contains($0) }
      // `1h30` is an hour and thirty minutes.
      guard !number.isEmpty, let unit = word.isEmpty ? ["h": "m", "m": "s"][last] : unit(word) else { return "" }
      if unit == "d" {
        guard let days = Int(number), days <= 4000 else { return "" }
        result += "\(days * 24)h"
      } else {
        result += "\(number)\(unit)"
      }
      last = unit
    }
    return result
  }

  private static func unit(_ word: Substring) -> String? {
    switch word {
    case "d", "day", "days": "d"
    case "h", "hr", "hrs", "hour", "hours": "h"
    case "m", "min", "mins", "minute", "minutes": "m"
    case "s", "sec", "secs", "second", "seconds": "s"
    case "ms", "msec", "msecs", "millis", "millisecond", "milliseconds": "ms"
    default: nil
    }
  }

  private static func valid(_ text: String) -> String? { DurationText.parse(text).map { _ in text } }

  private static func isDigit(_ character: Character) -> Bool { ("0"..."9").contains(character) }
}
