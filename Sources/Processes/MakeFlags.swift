/// The environment variables that carry make's flags and jobserver to its children.
enum MakeFlags {
  /// Rust programs read `CARGO_MAKEFLAGS` first.
  static let variables: Set<String> = ["MAKEFLAGS", "MFLAGS", "CARGO_MAKEFLAGS"]

  /// Removes a jobserver given as descriptors: children don't inherit these, and make prints a warning about them.
  ///
  /// A jobserver given as a FIFO stays, because it has a path. Words after `--` are make's variables.
  static func withoutDescriptors(_ flags: [UInt8]) -> [UInt8] {
    let blank = UInt8(ascii: " ")
    var words = flags.split(separator: blank, omittingEmptySubsequences: false)
    let end = words.firstIndex { $0.elementsEqual("--".utf8) } ?? words.endIndex
    let kept = words[..<end].filter { word in
      if word.starts(with: "--jobserver-fds=".utf8) { return false }
      return !word.starts(with: "--jobserver-auth=".utf8) || word.starts(with: "--jobserver-auth=fifo:".utf8)
    }
    words.replaceSubrange(..<end, with: kept)
    return Array(words.joined(separator: [blank]))
  }
}
