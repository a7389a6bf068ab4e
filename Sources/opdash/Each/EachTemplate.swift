import Foundation
import Session

/// The command of `opdash each`: shell text with placeholders for the arguments of a job.
///
/// A placeholder stands in a word, between double or between single quotation marks; anywhere else it is refused, because the
/// shell could take a part of an argument for a command. There `"$1"` is the argument, which is refused only where bash
/// evaluates it once more, as in `$((`.
struct EachTemplate: Equatable {
  /// The longest text that Linux takes as an argument of the shell, in bytes.
  static let longestScript = 131_071

  /// The part of an argument that replaces a placeholder.
  enum Form: String, CaseIterable {
    /// The argument.
    case whole = "{}"
    /// Without the extension of its last component.
    case withoutExtension = "{.}"
    /// The last component.
    case baseName = "{/}"
    /// The text before it; `.` if that is empty.
    case folder = "{//}"
    case bareName = "{/.}"
    /// The number of the job, from 1.
    case number = "{#}"
  }

  private enum Part: Equatable {
    case text([UInt8])
    case placeholder(Form, ShellText.Quotes)
  }

  private var parts: [Part] = []
  /// Whether the shell gets the arguments as `$1`, `$2` and so on.
  private let namesArguments: Bool

  /// Where the command has no placeholder and names no argument, the arguments stand at its end.
  init(_ command: String) throws(UsageError) {
    var text: [UInt8] = []
    var shell = ShellText()
    var hasPlaceholder = false
    var rest = Array(command.utf8)[...]
    guard !rest.allSatisfy(Self.isBlank) else {
      throw UsageError("opdash each needs a command, as in opdash each 'gzip {}' *.log")
    }
    while let byte = rest.first {
      if let form = Self.form(at: rest, after: shell.last) {
        if form != .number {
          if let place = shell.evaluation { throw Self.refusal(of: "'\(form.rawValue)' stands", evaluated: place) }
          if let obstacle = shell.obstacle { throw Self.refusal(of: form, after: obstacle) }
        }
        parts += [.text(text), .placeholder(form, shell.quotes)]
        text = []
        rest = rest.dropFirst(form.rawValue.utf8.count)
        shell.takeArgument()
        hasPlaceholder = true
      } else {
        text.append(byte)
        rest = rest.dropFirst()
        shell.take(byte, next: rest)
      }
    }
    if let argument = shell.evaluatedArgument {
      throw Self.refusal(of: "'\(argument.name)' stands", evaluated: argument.place)
    }
    namesArguments = shell.namesArguments
    if !hasPlaceholder, !namesArguments {
      if let word = Self.ofParallel.first(where: command.contains) {
        throw UsageError(
          "'\(word)' is not a placeholder here: write {} for the argument, or \"$1\" and \"$2\" for several")
      }
      while text.last.map(Self.isBlank) ?? false { text.removeLast() }
      if let place = shell.evaluation { throw Self.refusal(of: "the argument would stand", evaluated: place) }
      if let obstacle = shell.obstacle ?? Self.obstacle(at: text, shell.quotes) {
        throw UsageError(
          "the argument would stand at the end of the command, after '\(obstacle)', where the shell may take it for another "
            + "command: write {} where it belongs, or \"$1\"")
      }
      text.append(UInt8(ascii: " "))
      parts = [.text(text), .placeholder(.whole, .none)]
    } else {
      parts.append(.text(text))
    }
    parts.removeAll { $0 == .text([]) }
  }

  /// Placeholders of GNU parallel: in a command that has no other, they are meant as such.
  private static let ofParallel = (1...9).map { "{\($0)}" } + ["{%}"]

  private static func refusal(of form: Form, after obstacle: String) -> UsageError {
    UsageError(
      "'\(form.rawValue)' stands after '\(obstacle)', where the shell may take a part of an argument for a command: "
        + "write \"$1\" there, which is the argument")
  }

  private static func refusal(of subject: String, evaluated place: String) -> UsageError {
    let remedy =
      switch place {
      case ">&": "write > before it, and 2>&1 behind it"
      case "[[": "write [ ] instead of [[ ]]"
      default: "no argument can stand there"
      }
    return UsageError("\(subject) after '\(place)', where bash would execute parts of it: \(remedy)")
  }

  private static func isBlank(_ byte: UInt8) -> Bool { " \t\n".utf8.contains(byte) }

  /// Why nothing can be added to the end of a command.
  private static func obstacle(at text: [UInt8], _ quotes: ShellText.Quotes) -> String? {
    switch quotes {
    case .single: "'"
    case .double: "\""
    case .none: text.last.flatMap { ";&|()!{\\".utf8.contains($0) ? String(Character(Unicode.Scalar($0))) : nil }
    }
  }

  /// The placeholder with which the text begins; `${#}` is a parameter of the shell.
  private static func form(at text: ArraySlice<UInt8>, after byte: UInt8) -> Form? {
    guard text.first == UInt8(ascii: "{") else { return nil }
    let form = Form.allCases.first { text.starts(with: $0.rawValue.utf8) }
    return form == .number && byte == UInt8(ascii: "$") ? nil : form
  }

  /// The text for the shell, for the arguments of job `number`.
  func script(for arguments: [[UInt8]], number: Int) -> String {
    var script: [UInt8] = []
    if namesArguments {
      script += "set --".utf8
      for argument in arguments { script += " ".utf8 + ShellText.quoted(argument[...]) }
      script += "; ".utf8
    }
    for part in parts {
      switch part {
      case .text(let text): script += text
      case .placeholder(.number, _): script += "\(number)".utf8
      case .placeholder(let form, let quotes):
        for (index, argument) in arguments.enumerated() {
          if index > 0 { script.append(UInt8(ascii: " ")) }
          script += ShellText.quoted(form.value(of: argument), in: quotes)
        }
      }
    }
    return String(decoding: script, as: UTF8.self)
  }
}

extension EachTemplate.Form {
  /// Like `basename` and `dirname`, ignores slashes at the end; a dot at the start of a name doesn't begin an extension.
  func value(of argument: [UInt8]) -> ArraySlice<UInt8> {
    let slash = UInt8(ascii: "/")
    let end = argument.lastIndex { $0 != slash }.map { $0 + 1 } ?? min(1, argument.count)
    let path = argument[..<end]
    let start = path.count > 1 ? path.lastIndex(of: slash).map { $0 + 1 } ?? 0 : 0
    switch self {
    case .whole, .number: return argument[...]
    case .baseName: return path[start...]
    case .bareName: return Self.withoutExtension(path[start...])
    case .withoutExtension:
      return end < argument.count ? argument[...] : argument[..<start] + Self.withoutExtension(path[start...])
    case .folder:
      guard start > 0 else { return path.first == slash ? path : [UInt8(ascii: ".")] }
      let last = path[..<start].lastIndex { $0 != slash }
      return last.map { path[...$0] } ?? path[..<1]
    }
  }

  private static func withoutExtension(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return name }
    return name[..<dot]
  }
}
