/// The variables by which make tells its children how to share its jobs.
enum MakeFlags {
  /// `CARGO_MAKEFLAGS` is what programs of Rust read first.
  static let variables: Set<String> = ["MAKEFLAGS", "MFLAGS", "CARGO_MAKEFLAGS"]

  /// The flags without a jobserver of descriptors, which no child of this process gets: a make that reads of them complains.
  ///
  /// One that is a FIFO has a path, and stays. What follows `--` are variables of make.
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
