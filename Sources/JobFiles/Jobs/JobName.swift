import Basics

/// The rules for names of jobs and pools.
enum JobName {
  static let limit = 200

  /// The fault of a name, as the end of a sentence; nil for a valid name.
  ///
  /// A name must be unambiguous on command lines, in output lines and before `[instance]`.
  static func fault(in name: String) -> String? {
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
    if name.hasPrefix("-") { return "begins with '-', as an option of the command line does: use another character" }
    if name.contains("[") || name.contains("]") {
      return "holds a bracket, which only instances of a matrix have: delete it"
    }
    if name.contains("${") { return "holds '${': variables are not put into names, so write it out" }
    return nil
  }
}
