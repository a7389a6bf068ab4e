import Basics
import Screen

/// Input of a terminal, before clicks are counted.
package enum DecodedInput: Sendable, Hashable {
  case key(Key)
  /// An escape byte and the key, as a terminal sends the key with Alt.
  case alt(Key)
  /// The second press of a double click is a click too; in the old encoding, the release of any button is one.
  case mouse(MouseEvent)
  case paste(String)
  /// The answer to the query of the background (OSC 11).
  case background(ScreenTraits.Background)
  /// The answer to the query of attributes (DA1), which every terminal sends, after earlier answers.
  case attributes
}

/// Decodes the bytes of a terminal into keys, mouse actions and pasted text.
///
/// Has no clock: an incomplete sequence is kept until more bytes come or `flush` is called.
package struct InputDecoder: Sendable {
  /// How long the caller waits before `flush`.
  package enum Patience: Sendable {
    /// After an escape byte that may be a key.
    case short
    /// After one that was taken for a key, where the next key may be the rest of a sequence that a slow line has divided.
    case medium
    /// Inside a sequence, or after an escape byte that may end a paste.
    case long
  }

  private enum State {
    case ground
    case escape
    /// After ESC O.
    case single
    case control([UInt8])
    /// The three bytes after CSI M.
    case oldMouse([UInt8])
    /// A terminal's answer, up to the string terminator; most are dropped.
    case answer(introducer: UInt8, length: Int, escaped: Bool)
    case paste
    case terminfo([UInt8])
  }

  /// The meaning of an escape byte before the state's own bytes.
  private enum Lead {
    case none
    /// The next key is pressed with Alt.
    case alt
    /// The byte was taken for a key.
    case escape
  }

  private var state = State.ground
  private var lead = Lead.none
  // Not a payload of the state, where every byte of a long paste would copy the array.
  private var pasted: [UInt8] = []
  /// The first bytes of an answer.
  private var answered: [UInt8] = []
  private var scalars = ScalarDecoder()
  private var typed = ""
  private var decoded: [DecodedInput] = []
  private let sequences: KeySequences

  package init(sequences: KeySequences = KeySequences()) { self.sequences = sequences }

  package var patience: Patience? {
    switch state {
    case .ground: scalars.isWaiting ? .long : nil
    case .escape: lead == .escape ? .medium : .short
    case .single where lead == .escape, .control([]) where lead == .escape, .answer(_, 0, _): .medium
    // Pasted text must not become keys, however long the rest takes.
    case .paste: pasted.last == Self.pasteEnd[0] ? .long : nil
    case .single, .control, .oldMouse, .answer, .terminfo: .long
    }
  }

  package mutating func feed(_ bytes: some Sequence<UInt8>) -> [DecodedInput] {
    for byte in bytes { take(byte) }
    return drain()
  }

  /// Ends an incomplete sequence: its bytes become keys where they can be.
  ///
  /// Ends a paste only after an escape byte, for a terminal that has lost the end of one.
  package mutating func flush() -> [DecodedInput] {
    if case .paste = state, pasted.last != Self.pasteEnd[0] { return [] }
    switch exchange(&state, with: .ground) {
    case .ground: scalars = ScalarDecoder()
    case .escape where lead == .escape: break
    case .escape:
      if lead == .alt { decoded.append(.key(.escape)) }
      decoded.append(.key(.escape))
      state = .escape
    case .single: emitIntroducer("O")
    case .control([]): emitIntroducer("[")
    case .paste:
      emitPaste()
      state = .escape
    case .answer(let introducer, 0, _): emitIntroducer(Character(Unicode.Scalar(introducer)))
    case .control, .oldMouse, .answer, .terminfo: break
    }
    lead = if case .escape = state { .escape } else { .none }
    return drain()
  }

  private mutating func take(_ byte: UInt8) {
    step(byte)
    // A sequence without a key, or half a character, has ended.
    if case .ground = state, typed.isEmpty, !scalars.isWaiting { lead = .none }
  }

  private mutating func step(_ byte: UInt8) {
    switch state {
    case .ground: ground(byte)
    case .escape: escape(byte)
    case .single where byte == 0x1B, .control where byte == 0x1B, .oldMouse where byte == 0x1B: beginEscape()
    case .single:
      state = .ground
      if let key = KeySequences.single(byte) { emit(key) }
    case .control(let bytes): control(byte, bytes)
    case .oldMouse(let bytes):
      state = bytes.count < 2 ? .oldMouse(bytes + [byte]) : .ground
      if bytes.count == 2 { oldMouse(Int(bytes[0]) - 32, x: Int(bytes[1]) - 32, y: Int(byte) - 32) }
    case .answer(let introducer, let length, let escaped): answer(byte, introducer, length, escaped)
    case .paste: paste(byte)
    case .terminfo(let bytes): terminfo(byte, bytes)
    }
  }

  private mutating func ground(_ byte: UInt8) {
    if !scalars.isWaiting, sequences.begins([byte]), byte != 0x1B {
      state = .terminfo([])
      return terminfo(byte, [])
    }
    guard byte >= 0x20, byte != 0x7F else {
      scalars = ScalarDecoder()
      return byte == 0x1B ? beginEscape() : emit(KeySequences.control(byte))
    }
    scalars.feed(byte) { scalar in
      if scalar != "\u{FFFD}", TextWidth.isPrintable(scalar) {
        typed.unicodeScalars.append(scalar)
      }
    }
  }

  private mutating func beginEscape() {
    typedEnds()
    (state, lead) = (.escape, .none)
  }

  private mutating func escape(_ byte: UInt8) {
    if byte != 0x5B, byte != 0x4F, sequences.begins([0x1B, byte]) {
      state = .terminfo([0x1B])
      return terminfo(byte, [0x1B])
    }
    switch byte {
    case UInt8(ascii: "["): state = .control([])
    case UInt8(ascii: "O"): state = .single
    // Alt with this key if nothing follows, else an answer, whose text must not become keys.
    case _ where (lead == .escape ? "]" : "]P_^X").utf8.contains(byte):
      state = .answer(introducer: byte, length: 0, escaped: false)
      answered = []
    case 0x1B:
      if lead == .alt { decoded.append(.key(.escape)) }
      lead = lead == .escape ? .none : .alt
    default:
      state = .ground
      lead = lead == .escape ? .none : .alt
      ground(byte)
    }
  }

  private mutating func control(_ byte: UInt8, _ bytes: [UInt8]) {
    // The Linux console's F1 to F5.
    if bytes == [UInt8(ascii: "[")] {
      state = .ground
      if (0x41...0x45).contains(byte) { emit(.function(Int(byte) - 0x40)) }
      return
    }
    if bytes.isEmpty, byte == UInt8(ascii: "[") {
      state = .control([byte])
      return
    }
    guard (0x40...0x7E).contains(byte) else {
      state = (0x20...0x3F).contains(byte) && bytes.count < 64 ? .control(bytes + [byte]) : .ground
      return
    }
    state = .ground
    finishControl(byte, bytes)
  }

  private mutating func finishControl(_ final: UInt8, _ bytes: [UInt8]) {
    let isMouse = bytes.first == UInt8(ascii: "<")
    let numbers = bytes.drop { (0x3C...0x3F).contains($0) }
      .split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      .map { Int(String(decoding: $0, as: UTF8.self)) ?? 0 }
    switch final {
    case UInt8(ascii: "M") where isMouse && numbers.count == 3, UInt8(ascii: "m") where isMouse && numbers.count == 3:
      mouse(numbers[0], x: numbers[1], y: numbers[2], released: final == UInt8(ascii: "m"))
    case UInt8(ascii: "M") where numbers.count == 3:
      oldMouse(numbers[0] - 32, x: numbers[1], y: numbers[2])
    case UInt8(ascii: "M") where bytes.isEmpty: state = .oldMouse([])
    case UInt8(ascii: "~") where numbers.first == 200: state = .paste
    case UInt8(ascii: "c") where bytes.first == UInt8(ascii: "?"):
      typedEnds()
      decoded.append(.attributes)
    case UInt8(ascii: "~"): if let key = KeySequences.numbered(numbers.first ?? 0) { emit(key) }
    default:
      let isPlain = bytes.first.map { (0x30...0x3B).contains($0) } ?? true
      if isPlain, let key = KeySequences.final(final) { emit(key) }
    }
  }

  private mutating func answer(_ byte: UInt8, _ introducer: UInt8, _ length: Int, _ escaped: Bool) {
    if lead == .escape, length == 0, byte != Self.backgroundAnswer[0] {
      state = .ground
      emitIntroducer(Character(Unicode.Scalar(introducer)))
      return ground(byte)
    }
    if byte == 0x07 || byte == 0x9C || (escaped && byte != 0x1B) || length > 4096 {
      state = .ground
      if introducer == UInt8(ascii: "]"), length <= 4096 { emitBackground() }
    } else {
      state = .answer(introducer: introducer, length: length + 1, escaped: byte == 0x1B)
      if answered.count < 40 { answered.append(byte) }
    }
  }

  /// `11;rgb:RRRR/GGGG/BBBB`, each part of one to four hexadecimal digits; `rgba:` has one more.
  private mutating func emitBackground() {
    guard answered.starts(with: Self.backgroundAnswer) else { return }
    let text = String(
      decoding: answered.drop { $0 != UInt8(ascii: ":") }.dropFirst().prefix { $0 != 0x1B }, as: UTF8.self)
    let parts = text.split(separator: "/").prefix(3).compactMap { part -> Double? in
      guard let value = Int(part, radix: 16), (1...4).contains(part.utf8.count) else { return nil }
      return Double(value) / Double((1 << (4 * part.utf8.count)) - 1)
    }
    guard parts.count == 3 else { return }
    typedEnds()
    decoded.append(.background(ScreenTraits.Background(red: parts[0], green: parts[1], blue: parts[2])))
  }

  private mutating func paste(_ byte: UInt8) {
    pasted.append(byte)
    if byte == UInt8(ascii: "~"), pasted.suffix(Self.pasteEnd.count).elementsEqual(Self.pasteEnd) {
      state = .ground
      pasted.removeLast(Self.pasteEnd.count)
      emitPaste()
    } else if pasted.count > Self.longestPaste + Self.pasteEnd.count {
      pasted.remove(at: Self.longestPaste)
    }
  }

  private mutating func terminfo(_ byte: UInt8, _ bytes: [UInt8]) {
    let bytes = bytes + [byte]
    if let key = sequences.key(bytes) {
      state = .ground
      emit(key)
    } else if sequences.begins(bytes) {
      state = .terminfo(bytes)
    } else if byte == 0x1B {
      beginEscape()
    } else {
      state = .ground
    }
  }

  private mutating func mouse(_ button: Int, x: Int, y: Int, released: Bool) {
    guard x >= 1, y >= 1 else { return }
    typedEnds()
    let action: MouseEvent.Action? =
      switch button & ~Self.modifiers {
      case 0: released ? .release : .click
      case 32 where !released: .drag
      case 64 where !released: .wheelUp
      case 65 where !released: .wheelDown
      default: nil
      }
    if let action { decoded.append(.mouse(MouseEvent(action, x: x - 1, y: y - 1))) }
  }

  /// Decodes the X10 encoding, where a release is button 3.
  private mutating func oldMouse(_ button: Int, x: Int, y: Int) {
    let isRelease = button & ~Self.modifiers == 3
    mouse(isRelease ? 0 : button, x: x, y: y, released: isRelease)
  }

  /// Shift, Alt and Ctrl.
  private static let modifiers = 0b1_1100

  private mutating func emit(_ key: Key) {
    typedEnds()
    decoded.append(lead == .alt ? .alt(key) : .key(key))
    lead = .none
  }

  /// Takes the first byte after an escape byte for a key, with Alt if it came at once.
  private mutating func emitIntroducer(_ character: Character) {
    if lead == .none { lead = .alt }
    emit(.character(character))
  }

  private mutating func emitPaste() {
    typedEnds()
    let text = String(decoding: pasted, as: UTF8.self).replacing("\r\n", with: "\n").escaping(["\r": "\n"])
    pasted = []
    let kept = text.unicodeScalars.filter { $0 == "\n" || $0 == "\t" || TextWidth.isPrintable($0) || $0 == "\u{200D}" }
    decoded.append(.paste(String(String.UnicodeScalarView(kept))))
  }

  /// Emits typed scalars as graphemes: an accent may follow its letter.
  private mutating func typedEnds() {
    for character in exchange(&typed, with: "") { emit(.character(character)) }
  }

  private mutating func drain() -> [DecodedInput] {
    typedEnds()
    return exchange(&decoded, with: [])
  }

  private static let backgroundAnswer = Array("11;rgb".utf8)
  private static let pasteEnd = Array("\u{1B}[201~".utf8)
  private static let longestPaste = 1 << 20
}
