import Foundation

/// Replaces secret values by `***` in a program's output and records.
///
/// Of values that overlap in a text everything is replaced, by one `***`. A value counts as it is written, so a program that
/// encodes or splits it shows it.
package struct SecretMask: Sendable {
  /// The shortest line of a value with several lines that is replaced by itself: shorter ones are brackets and the like.
  private static let shortestLine = 4
  private static let replacement = Array("***".utf8)

  /// In the order of their first byte, and of one first byte the longest first.
  private let values: [[UInt8]]
  /// The values with each first byte.
  private let starts: [Range<Int>]

  /// Nil where there is nothing to replace: empty and blank values don't count.
  ///
  /// A value counts without the blanks around it too, and of one with several lines each line.
  package init?(_ values: some Sequence<String>) {
    var all: Set<[UInt8]> = []
    for value in values {
      let lines = value.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
      guard lines.contains(where: { !$0.isEmpty }) else { continue }
      all.insert(Array(value.utf8))
      if value.contains(where: \.isNewline) {
        all.formUnion(lines.lazy.map { Array($0.utf8) }.filter { $0.count >= Self.shortestLine })
      } else {
        // A shell drops the blanks around a word.
        all.formUnion(lines.map { Array($0.utf8) })
      }
    }
    guard !all.isEmpty else { return nil }
    let sorted = all.sorted { $0[0] == $1[0] ? $0.count > $1.count : $0[0] < $1[0] }
    self.values = sorted
    var starts = [Range<Int>](repeating: 0..<0, count: 256)
    for (number, value) in sorted.enumerated() {
      let first = Int(value[0])
      starts[first] = (starts[first].isEmpty ? number : starts[first].lowerBound)..<(number + 1)
    }
    self.starts = starts
  }

  /// The text with `***` in the place of each secret value.
  package func masked(_ text: String) -> String {
    var text = text
    let occurs = text.withUTF8 { text in text.indices.contains { match(at: $0, of: text).length > 0 } }
    guard occurs else { return text }
    var stream = Stream(self)
    return String(decoding: stream.mask(Array(text.utf8)) + stream.end(), as: UTF8.self)
  }

  /// As `masked`, of a text that is cut off at its end: without an end that may be the beginning of a value.
  package func maskedCut(_ text: String) -> String {
    var stream = Stream(self)
    return String(decoding: stream.mask(Array(text.utf8)), as: UTF8.self)
  }

  /// A match of the values, or the beginning of one, at a position.
  private struct Match {
    /// The length of the longest value that is there whole; 0 if none is.
    var length = 0
    /// Whether the bytes end within a value.
    var isOpen = false
  }

  private func match(at place: Int, of bytes: UnsafeBufferPointer<UInt8>) -> Match {
    var match = Match()
    guard let start = bytes.baseAddress.map({ $0 + place }) else { return match }
    // The longest first.
    for number in starts[Int(bytes[place])] where match.length == 0 {
      let length = values[number].count
      let count = min(length, bytes.count - place)
      let isThere = values[number].withUnsafeBytes { value in
        value.baseAddress.map { memcmp($0, start, count) == 0 } ?? false
      }
      guard isThere else { continue }
      if count == length { match.length = length } else { match.isOpen = true }
    }
    return match
  }

  /// Masks bytes that come in chunks, with the same result however they are divided.
  ///
  /// Only the end of a chunk that may be the beginning of a value is held back.
  package struct Stream: Sendable {
    private let mask: SecretMask
    private var held: [UInt8] = []
    /// How many of the held bytes belong to a value that has been replaced.
    private var covered = 0

    package init(_ mask: SecretMask) { self.mask = mask }

    /// The bytes that are certain with this chunk.
    package mutating func mask(_ bytes: [UInt8]) -> [UInt8] { pass(bytes, isLast: false) ?? bytes }

    /// The bytes that were held back; the stream begins anew.
    package mutating func end() -> [UInt8] { pass([], isLast: true) ?? [] }

    /// Nil where the bytes are passed on as they are.
    fileprivate mutating func pass(_ bytes: [UInt8], isLast: Bool) -> [UInt8]? {
      let all = held.isEmpty ? bytes : held + bytes
      var output: [UInt8] = []
      /// The text before this position is released.
      var given = covered
      var kept = all.count
      all.withUnsafeBufferPointer { all in
        for place in 0..<all.count where !mask.starts[Int(all[place])].isEmpty {
          let match = mask.match(at: place, of: all)
          if match.length > 0 {
            if place >= given {
              output += all[given..<place]
              output += SecretMask.replacement
            }
            given = max(given, place + match.length)
          }
          if match.isOpen, !isLast {
            kept = place
            break
          }
        }
      }
      let isUnchanged = held.isEmpty && given == 0 && kept == all.count
      if given < kept { output += all[given..<kept] }
      covered = max(0, given - kept)
      held = Array(all[kept...])
      return isUnchanged ? nil : output
    }
  }
}
