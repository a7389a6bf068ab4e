import Foundation
import Session

/// The command of `opdash each`: shell text with placeholders for the arguments of a job.
///
/// Each argument is quoted for the place where it stands, so that the shell takes it for what it is: outside of quotes, and
/// within quotes and command substitutions of the text.
struct EachTemplate: Equatable {
  /// What a placeholder stands for.
  enum Form: String, CaseIterable {
    /// The argument.
    case whole = "{}"
    /// Without the extension of its last component.
    case withoutExtension = "{.}"
    /// The last component.
    case baseName = "{/}"
    /// What is before it; `.` if that is nothing.
    case folder = "{//}"
    case bareName = "{/.}"
    /// The number of the job, from 1.
    case number = "{#}"
  }

  private enum Part: Equatable {
    case text([UInt8])
    case placeholder(Form, ShellQuotes.Place)
  }

  private let parts: [Part]

  /// Where the command has no placeholder, the arguments stand at its end.
  init(_ command: String) throws(UsageError) {
    var parts: [Part] = []
    var text: [UInt8] = []
    var quotes = ShellQuotes()
    var rest = Array(command.utf8)[...]
    while let byte = rest.first {
      if let form = Self.form(at: rest, after: text.last), let place = quotes.place {
        guard !quotes.isInHereDocument else {
          throw UsageError(
            "'\(form.rawValue)' stands in a here-document, where nothing can be quoted: use printf '%s\\n' \(form.rawValue) |"
          )
        }
        parts += [.text(text), .placeholder(form, place)]
        text = []
        rest = rest.dropFirst(form.rawValue.utf8.count)
        quotes.takePlaceholder()
      } else {
        text.append(byte)
        rest = rest.dropFirst()
        quotes.take(byte, next: rest.first)
      }
    }
    if parts.isEmpty {
      parts = [.text(text + [UInt8(ascii: " ")]), .placeholder(.whole, ShellQuotes.Place())]
    } else {
      parts.append(.text(text))
    }
    self.parts = parts.filter { $0 != .text([]) }
  }

  /// The placeholder with which the text begins; `${#}` is a parameter of the shell.
  private static func form(at text: ArraySlice<UInt8>, after byte: UInt8?) -> Form? {
    guard text.first == UInt8(ascii: "{"), byte != UInt8(ascii: "$") else { return nil }
    return Form.allCases.first { text.starts(with: $0.rawValue.utf8) }
  }

  /// The text for the shell, for the arguments of job `number`.
  func script(for arguments: [[UInt8]], number: Int) -> String {
    var script: [UInt8] = []
    for part in parts {
      switch part {
      case .text(let text): script += text
      case .placeholder(.number, _): script += Array("\(number)".utf8)
      case .placeholder(let form, let place):
        for (index, argument) in arguments.enumerated() {
          if index > 0 { script.append(UInt8(ascii: " ")) }
          script += place.quoted(form.value(of: argument))
        }
      }
    }
    return String(decoding: script, as: UTF8.self)
  }
}

extension EachTemplate.Form {
  /// As `basename` and `dirname`, for which slashes at the end don't count; a dot at the start of a name begins no extension.
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
