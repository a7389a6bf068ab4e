import Screen

/// A command and the keys that it has.
struct Binding: Sendable {
  let command: Command
  var keys: [Key]
}

/// The keys of every command: the usual ones with a person's changes.
package struct KeyMap: Sendable {
  /// By priority on the bottom line.
  let bindings: [Binding]
  private let commands: [Key: Command]

  package static let standard = KeyMap()

  /// Replaces the keys of commands, which are given by their names.
  ///
  /// A key that is given to one command is taken from the others.
  package init(changes: [String: [Key]] = [:]) {
    let given = Set(changes.values.joined())
    bindings = Command.all.map { command in
      Binding(command: command, keys: changes[command.name] ?? command.keys.filter { !given.contains($0) })
    }
    var commands: [Key: Command] = [:]
    for binding in bindings { for key in binding.keys { commands[key] = binding.command } }
    self.commands = commands
  }

  /// The keys for a replay: there is nothing to tag, and the keys that tag hold and resume it.
  package var forReplay: KeyMap {
    KeyMap(
      changes: [
        Command.tag.name: [], Command.hold.name: keys(of: .hold) + keys(of: .tag),
      ].merging(bindings.map { ($0.command.name, $0.keys) }) { replay, _ in replay })
  }

  /// The bindings of a section, in the order of the help page.
  func bindings(in section: Command.Section) -> [Binding] {
    let order = Command.groups.flatMap(\.lines).flatMap(\.commands)
    let named = order.compactMap { command in bindings.first { $0.command == command } }
    let others = bindings.filter { !order.contains($0.command) }
    return (named + others).filter { $0.command.section == section }
  }

  func command(for key: Key) -> Command? { commands[key] }

  func keys(of command: Command) -> [Key] { bindings.first { $0.command == command }?.keys ?? [] }

  /// The name of the command's first key; nil if it has none.
  func label(_ command: Command) -> String? { keys(of: command).first.map { $0.name() } }

  /// A key with its effect, as in `r retry`; empty if the command has no key.
  func hint(_ command: Command, _ words: String) -> String { label(command).map { "\($0) \(words)" } ?? "" }

  /// A command and its keys, as `opdash keys` prints them and a settings file may change them.
  package struct CommandKeys: Sendable, Equatable {
    /// The heading of the help page under which the command is listed.
    package var section: String
    package var action: String
    package var keys: [Key]
    package var help: String
    package var isChanged: Bool
    /// Whether a settings file must leave the command a key; the palette offers every other one.
    package var isNeeded: Bool
  }

  /// Every command, in the order of the help page.
  package var entries: [CommandKeys] {
    Command.Section.allCases.flatMap { section in
      bindings(in: section).map { binding in
        let command = binding.command
        return CommandKeys(
          section: section.rawValue, action: command.name, keys: binding.keys, help: command.help,
          isChanged: binding.keys != command.keys, isNeeded: [.quit, .help].contains(command))
      }
    }
  }
}
