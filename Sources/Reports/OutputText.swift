/// A line of a job's output made safe for a terminal: nothing in it is obeyed but, where colour is on, SGR sequences.
package enum OutputText {
  /// The line with every other escape sequence and control character taken out.
  ///
  /// Tabs stay. Of a line that was drawn over itself with carriage returns, the last drawing stays.
  package static func clean(_ text: String, keepingColour: Bool) -> String {
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 || $0 == 0xE2 }) else { return text }
    let scalars = lastDrawing(Array(text.unicodeScalars))
    var result = String.UnicodeScalarView()
    var isColoured = false
    var index = scalars.startIndex
    while index < scalars.endIndex {
      let scalar = scalars[index]
      guard let sequence = Escape(of: scalars[index...]) else {
        if isShown(scalar) { result.append(scalar) }
        index += 1
        continue
      }
      if keepingColour, case .graphics(let parameters) = sequence.kind {
        result.append(contentsOf: "\u{1B}[\(parameters)m".unicodeScalars)
        isColoured = !parameters.isEmpty && parameters != "0"
      }
      index += sequence.length
    }
    if isColoured { result.append(contentsOf: "\u{1B}[0m".unicodeScalars) }
    return String(result)
  }

  private static func lastDrawing(_ scalars: [Unicode.Scalar]) -> ArraySlice<Unicode.Scalar> {
    let drawings = scalars.split(separator: "\r")
    return drawings.last ?? []
  }

  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09: true
    case 0..<0x20, 0x7F..<0xA0: false
    // What turns the direction of writing or ends a line would make it read as something else.
    case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: false
    default: true
    }
  }

  /// An escape sequence at the beginning of some text.
  private struct Escape {
    enum Kind {
      case graphics(String)
      case other
    }

    var kind: Kind
    var length: Int

    init?(of text: ArraySlice<Unicode.Scalar>) {
      guard let first = text.first else { return nil }
      switch first.value {
      case 0x9B: self.init(control: text, from: 1)
      case 0x90, 0x98, 0x9D, 0x9E, 0x9F: self.init(string: text, from: 1)
      case 0x1B:
        switch text.dropFirst().first {
        case "[": self.init(control: text, from: 2)
        case "]", "P", "X", "^", "_": self.init(string: text, from: 2)
        default: self.init(simple: text)
        }
      default: return nil
      }
    }

    /// Intermediates, then one final character; a lone escape ends where something else begins.
    private init(simple text: ArraySlice<Unicode.Scalar>) {
      let middle = text.dropFirst().prefix { (0x20...0x2F).contains($0.value) }.count
      let final = text.dropFirst(1 + middle).first.map { (0x30...0x7E).contains($0.value) } ?? false
      kind = .other
      length = 1 + middle + (final ? 1 : 0)
    }

    private init(control text: ArraySlice<Unicode.Scalar>, from start: Int) {
      let body = text.dropFirst(start).prefix { (0x20...0x3F).contains($0.value) }
      let final = text.dropFirst(start + body.count).first
      let isWhole = final.map { (0x40...0x7E).contains($0.value) } ?? false
      length = start + body.count + (isWhole ? 1 : 0)
      if final == "m", body.allSatisfy({ ("0"..."9").contains($0) || $0 == ";" || $0 == ":" }) {
        kind = .graphics(String(String.UnicodeScalarView(body)))
      } else {
        kind = .other
      }
    }

    /// A string goes on to its terminator, or without one to the end of the line.
    private init(string text: ArraySlice<Unicode.Scalar>, from start: Int) {
      kind = .other
      var index = text.startIndex + start
      while index < text.endIndex {
        switch text[index].value {
        case 0x07, 0x9C:
          length = index + 1 - text.startIndex
          return
        case 0x1B:
          let isTerminator = index + 1 < text.endIndex && text[index + 1] == "\\"
          length = index + (isTerminator ? 2 : 0) - text.startIndex
          return
        default: index += 1
        }
      }
      length = text.count
    }
  }
}
