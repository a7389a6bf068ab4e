import Operations

/// Shell text that consists of one program with its arguments and needs no shell.
///
/// Starting a shell takes as long as many programs run, and the shell would only execute the program. `make` skips it
/// too.
enum PlainScript {
  /// The program and its arguments; nil for text that needs a shell.
  ///
  /// Quoted words and backslashes are accepted as long as nothing in them is expanded.
  static func words(_ text: String) -> [String]? {
    var words: [[UInt8]] = []
    var word: [UInt8] = []
    // A word in quotes may be empty.
    var isInWord = false
    var rest = text.utf8[...]
    while let end = rest.last, end == newline || blanks.contains(end) { rest.removeLast() }
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"):
        if isInWord { words.append(word) }
        (word, isInWord) = ([], false)
        continue
      case UInt8(ascii: "'"), UInt8(ascii: "\""):
        guard !words.isEmpty, let end = rest.firstIndex(of: byte) else { return nil }
        let quoted = rest[..<end]
        if byte == UInt8(ascii: "\""), quoted.contains(where: expanded.contains) { return nil }
        word += quoted
        rest = rest[rest.index(after: end)...]
      case UInt8(ascii: "\\"):
        guard !words.isEmpty, let next = rest.popFirst(), next != newline else { return nil }
        word.append(next)
      default:
        guard isPlain(byte) || byte == UInt8(ascii: "=") && !words.isEmpty else { return nil }
        word.append(byte)
      }
      isInWord = true
    }
    if isInWord { words.append(word) }
    guard let name = words.first, !shellWords.contains(String(decoding: name, as: UTF8.self)) else { return nil }
    return words.map { String(decoding: $0, as: UTF8.self) }
  }

  private static let newline = UInt8(ascii: "\n")
  private static let blanks = Array(" \t".utf8)
  /// Characters that are special between quotation marks.
  private static let expanded = Array("$`\\!".utf8)

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte.isASCIIAlphanumeric || "-./_:+@,%".utf8.contains(byte) || byte >= 0x80
  }

  /// The keywords and commands of POSIX shells, dash, bash and ksh, which may differ from a program of the same name.
  private static let shellWords: Set<String> = [
    ".", ":", "alias", "autoload", "bg", "bind", "break", "builtin", "caller", "case", "cd", "chdir", "command",
    "compgen", "complete", "compopt", "continue", "coproc", "declare", "dirs", "disown", "do", "done", "echo", "elif",
    "else", "enable", "esac", "eval", "exec", "exit", "export", "false", "fc", "fg", "fi", "for", "function", "getopts",
    "hash", "help", "history", "if", "in", "jobs", "kill", "let", "local", "logout", "mapfile", "nameref", "popd",
    "print", "printf", "pushd", "pwd", "read", "readarray", "readonly", "return", "select", "set", "shift", "shopt",
    "source", "suspend", "test", "then", "time", "times", "trap", "true", "type", "typeset", "ulimit", "umask",
    "unalias", "unset", "until", "wait", "whence", "while",
  ]
}
