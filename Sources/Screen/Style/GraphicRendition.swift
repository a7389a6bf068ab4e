/// The parameters of SGR sequences, as in `1;38;5;208`.
enum GraphicRendition {
  /// Removes the parameters that hide text or make it blink; nil if none is left.
  static func visible(_ parameters: String) -> String? {
    var fields = parameters.split(separator: ";", omittingEmptySubsequences: false)[...]
    var kept: [Substring] = []
    while let field = fields.popFirst() {
      switch Int(field.prefix { $0 != ":" }) {
      case 5, 6, 8: continue
      case 38, 48, 58:
        if field.contains(":") {
          kept.append(field)
          continue
        }
        // The fields after it are its arguments, unless they can't be: then each is a parameter of its own.
        let count = fields.first == "5" ? 2 : fields.first == "2" ? 4 : 0
        if count > 0, fields.count >= count { kept += [field] + fields.prefix(count) }
        fields = fields.dropFirst(count)
      default: kept.append(field)
      }
    }
    return kept.isEmpty ? nil : kept.joined(separator: ";")
  }
}

extension Style {
  /// Applies the parameters of an SGR sequence, as in `1;38;5;208`; unknown ones are ignored.
  mutating func apply(graphicRendition parameters: String) {
    var fields = parameters.split(separator: ";", omittingEmptySubsequences: false)[...]
    if fields.isEmpty { fields = [""] }
    while let field = fields.popFirst() {
      // 38:2::r:g:b carries its own arguments, 38;2;r;g;b takes the fields after it.
      let parts = field.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
      let code = parts.first ?? 0
      switch code {
      case 38, 48, 58:
        let color = parts.count > 1 ? Self.color(parts.dropFirst()) : Self.color(taking: &fields)
        if code == 38, let color { foreground = color }
        if code == 48, let color { background = color }
      case 4 where parts.count > 1 && parts[1] == 0: attributes.remove(.underline)
      default: apply(code)
      }
    }
  }

  private mutating func apply(_ code: Int) {
    switch code {
    case 0: self = .plain
    case 1: attributes.insert(.bold)
    case 2: attributes.insert(.dim)
    case 3: attributes.insert(.italic)
    case 4, 21: attributes.insert(.underline)
    case 7: attributes.insert(.reverse)
    case 22: attributes.subtract([.bold, .dim])
    case 23: attributes.remove(.italic)
    case 24: attributes.remove(.underline)
    case 27: attributes.remove(.reverse)
    case 30...37: foreground = .indexed(UInt8(code - 30))
    case 39: foreground = .standard
    case 40...47: background = .indexed(UInt8(code - 40))
    case 49: background = .standard
    case 90...97: foreground = .indexed(UInt8(code - 90 + 8))
    case 100...107: background = .indexed(UInt8(code - 100 + 8))
    default: break
    }
  }

  private static func color(_ parts: ArraySlice<Int>) -> Color? {
    switch parts.first {
    case 5: parts.dropFirst().first.flatMap { indexed($0) }
    // With or without the color space before the components.
    case 2 where parts.count >= 4: rgb(parts.count >= 5 ? parts.dropFirst(2) : parts.dropFirst())
    default: nil
    }
  }

  private static func color(taking fields: inout ArraySlice<Substring>) -> Color? {
    switch fields.popFirst() {
    case "5": return fields.popFirst().flatMap { indexed(Int($0) ?? 0) }
    case "2":
      let three = fields.prefix(3).map { Int($0) ?? 0 }
      fields = fields.dropFirst(3)
      return rgb(three[...])
    default: return nil
    }
  }

  private static func indexed(_ index: Int) -> Color? { UInt8(exactly: index).map { .indexed($0) } }

  private static func rgb(_ parts: ArraySlice<Int>) -> Color? {
    let bytes = parts.prefix(3).compactMap { UInt8(exactly: $0) }
    return bytes.count == 3 ? .nearest(red: bytes[0], green: bytes[1], blue: bytes[2]) : nil
  }
}

extension Style {
  /// The SGR sequence that sets this style, whatever was set before.
  package var graphicRendition: String {
    var codes = ["0"]
    for (attribute, code) in [(Attributes.bold, "1"), (.dim, "2"), (.italic, "3"), (.underline, "4"), (.reverse, "7")]
    where attributes.contains(attribute) {
      codes.append(code)
    }
    if case .indexed(let index) = foreground { codes.append(Self.code(index, base: 30)) }
    if case .indexed(let index) = background { codes.append(Self.code(index, base: 40)) }
    return "\u{1B}[\(codes.joined(separator: ";"))m"
  }

  private static func code(_ index: UInt8, base: Int) -> String {
    switch index {
    case 0..<8: "\(base + Int(index))"
    case 8..<16: "\(base + 60 + Int(index) - 8)"
    default: "\(base + 8);5;\(index)"
    }
  }
}
