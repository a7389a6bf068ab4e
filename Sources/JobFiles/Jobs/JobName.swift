import Basics

/// The rules for names of jobs and pools.
enum JobName {
  static let limit = 200

  /// The fault of a name, as the end of a sentence; nil for a valid name.
  ///
  /// A name must be unambiguous on command lines, in output lines and before `[instance]`.
  static func fault(in name: String) -> String? {
    if isPlain(name) { return nil }
    if name.isEmpty { return "is empty: give it one" }
    if name.unicodeScalars.count > limit { return "is longer than \(limit) characters: shorten it" }
    if let scalar = name.unicodeScalars.first(where: \.isUnprintable) {
      return "holds the control character \(scalar.escaped(asASCII: true)): delete it"
    }
    if let scalar = name.unicodeScalars.first(where: \.isInvisible) {
      return "holds the invisible character \(scalar.escaped(asASCII: true)): delete it"
    }
    if name.first?.isWhitespace == true || name.last?.isWhitespace == true {
      return "begins or ends with a blank: delete that"
    }
    if name.utf8.first == UInt8(ascii: "-") {
      return "begins with '-', as an option of the command line does: use another character"
    }
    if name.holds("[") || name.holds("]") {
      return "holds a bracket, which only instances of a matrix have: delete it"
    }
    if name.holds("${") { return "holds '${': variables are not put into names, so write it out" }
    return nil
  }

  /// Whether a name is made of letters, digits and a few signs of ASCII, as nearly all are.
  private static func isPlain(_ name: String) -> Bool {
    let text = name.utf8
    return 1...limit ~= text.count && text.first != UInt8(ascii: "-")
      && text.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "-")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}
