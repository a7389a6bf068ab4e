/// A cycle as a message shows it.
enum CycleText {
  /// `a -> b -> c -> a`; the middle of a very long one is left out.
  static func path(_ names: [String]) -> String {
    guard names.count > 24 else { return names.map(Quoted.bare).joined(separator: " -> ") }
    let shown = names.prefix(12).map(Quoted.bare) + ["(\(names.count - 18) more)"] + names.suffix(6).map(Quoted.bare)
    return shown.joined(separator: " -> ")
  }
}
