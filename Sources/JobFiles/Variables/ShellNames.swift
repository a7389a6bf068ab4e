import Basics
import JobModel

/// Warnings for a `$` name that is passed on to the shell, or to a program as it stands, although the file has a similar variable.
extension Variables {
  /// Warns of `$NAME` in a value that no shell reads; in an argument of a program only where it is the whole, or a folder.
  func warnOfShellNames(in text: String, at node: YAMLNode, _ owner: @autoclosure () -> String, isArgument: Bool) {
    for name in Self.shellNames(in: text) {
      guard let advice = isVar(name) ? "${\(name)}" : environment[name] == nil ? nil : "${env.\(name)}" else {
        continue
      }
      if isArgument, text != "$\(name)", !text.hasPrefix("$\(name)/") { continue }
      let place = isArgument ? "a list" : owner()
      warn("'$\(name)' stays as it is in \(place), which no shell reads: write \(advice)", "$\(name)", 0, in: node)
    }
  }

  /// Warns of names in a script that look like vars of the file, but that the shell would not know.
  func warnOfScript(_ text: String, at node: YAMLNode, knowing known: Set<String>) {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "{") }) else { return }
    for name in Self.shellNames(in: text) where isVar(name) && isUnknownToShell(name, text, known) {
      warn(
        "'$\(name)' asks the shell for '\(name)', which is a var of this file: write ${\(name)}, or give it to the job in env",
        "$\(name)", 0, in: node)
    }
    guard text.contains("{{") else { return }
    // `{{.name}}` of Taskfiles, `{{name}}` of just.
    for match in text.matches(of: /\{\{ *\.?([\w-]+) *\}\}/) where isVar(String(match.1)) {
      warn("'\(match.0)' is not replaced: write ${\(match.1)}", String(match.0), 0, in: node)
    }
  }

  /// Warns of `${name}` that is left to the shell, but most likely means a var of the file.
  func warnOfReference(_ name: String, _ count: Int, _ text: String, in node: YAMLNode, knowing known: Set<String>) {
    // Bounds the search in a file with very many names.
    searches -= names.count + text.utf8.count / 16
    guard searches > 0 else { return }
    if name.hasPrefix("{") {
      warn("'${{ … }}' is a form of GitHub Actions: write ${NAME}, or ${env.NAME}", "${\(name)}", count, in: node)
    } else if Self.isName(name), isUnknownToShell(name, text, known), let near = NearestName.of(name, in: names) {
      warn(
        "'${\(name)}' is left to the shell, which doesn't know it: did you mean '${\(near)}'?", "${\(name)}", count,
        in: node)
    }
  }

  /// Whether neither the environment nor the script gives the shell a variable of that name.
  private func isUnknownToShell(_ name: String, _ script: String, _ known: Set<String>) -> Bool {
    environment[name] == nil && !known.contains(name) && !Self.isBare(name, in: script)
  }

  /// Whether a name stands in a script without `$`, as where it is set: `x=1`, `for x in`, `read x`.
  private static func isBare(_ name: String, in script: String) -> Bool {
    let bytes = Array(script.utf8)
    let wanted = Array(name.utf8)
    var index = 0
    while index + wanted.count <= bytes.count {
      defer { index += 1 }
      guard bytes[index] == wanted[0], bytes[index...].starts(with: wanted) else { continue }
      let before = index > 0 ? bytes[index - 1] : UInt8(ascii: " ")
      let after = index + wanted.count < bytes.count ? bytes[index + wanted.count] : UInt8(ascii: " ")
      if !before.isVariableByte, !after.isVariableByte, !"${#!".utf8.contains(before) { return true }
    }
    return false
  }

  /// The names after a `$` without a brace, each once.
  private static func shellNames(in text: String) -> [String] {
    guard text.hasByte(UInt8(ascii: "$")) else { return [] }
    let bytes = Array(text.utf8)
    var names: [String] = []
    var index = 0
    while let dollar = bytes[index...].firstIndex(of: UInt8(ascii: "$")) {
      let isEscaped = dollar > 0 && "\\$".utf8.contains(bytes[dollar - 1])
      let name = bytes[(dollar + 1)...].prefix { $0.isVariableByte }
      index = max(name.endIndex, dollar + 1)
      guard !isEscaped, name.first?.isASCIIDigit == false else { continue }
      let text = String(decoding: name, as: UTF8.self)
      if !names.contains(text), names.count < 100 { names.append(text) }
    }
    return names
  }
}
