import Screen

extension KeyMap {
  /// An action and its keys, as `opdash keys` prints them and a settings file may change them.
  package struct Entry: Sendable, Equatable {
    /// The heading of the help page under which it stands.
    package var section: String
    /// What a settings file calls it.
    package var action: String
    package var keys: [Key]
    package var help: String
    /// Whether its keys are other ones than without a settings file.
    package var isChanged: Bool
    /// Whether it must have a key: one can do without any other action, or choose it from the palette.
    package var isNeeded: Bool
  }

  /// Every action, in the order of the help page.
  package var entries: [Entry] {
    Binding.Section.allCases.flatMap { section in
      zip(bindings, Self.defaults).filter { $0.0.section == section }.map { binding, before in
        Entry(
          section: section.rawValue, action: binding.action.rawValue, keys: binding.keys, help: binding.help,
          isChanged: binding.keys != before.keys, isNeeded: [.quit, .help].contains(binding.action))
      }
    }
  }
}
