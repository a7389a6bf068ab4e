extension Style.Color {
  /// The names of a settings file: the basic eight, then their bright forms.
  package static let names: [String] =
    ["default"] + basic + basic.map { "bright-\($0)" } + ["grey", "gray"]

  private static let basic = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]

  /// Reads a name, an index from 0 to 255, or `#rrggbb`, which becomes the nearest indexed color; nil for anything else.
  package init?(named text: String) {
    let lowered = text.lowercased()
    if let index = Self.basic.firstIndex(of: lowered) {
      self = .indexed(UInt8(index))
    } else if lowered.hasPrefix("bright-"), let index = Self.basic.firstIndex(of: String(lowered.dropFirst(7))) {
      self = .indexed(UInt8(index + 8))
    } else if lowered == "grey" || lowered == "gray" {
      self = .indexed(8)
    } else if lowered == "default" {
      self = .standard
    } else if let index = UInt8(lowered) {
      self = .indexed(index)
    } else if let bytes = Self.bytes(lowered) {
      self = .nearest(red: bytes[0], green: bytes[1], blue: bytes[2])
    } else {
      return nil
    }
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    guard text.hasPrefix("#"), text.utf8.count == 7, let value = UInt32(text.dropFirst(), radix: 16) else { return nil }
    return [16, 8, 0].map { UInt8(value >> $0 & 0xFF) }
  }
}

extension Style.Attributes {
  /// The attributes by name, in the order of messages.
  package static let named: [(name: String, attribute: Style.Attributes)] = [
    ("bold", .bold), ("dim", .dim), ("underline", .underline), ("reverse", .reverse), ("italic", .italic),
  ]
}
