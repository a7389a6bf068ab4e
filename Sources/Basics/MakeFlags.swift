/// The flags that a make passes to the programs of its rules, in `MAKEFLAGS`.
package struct MakeFlags: Sendable, Equatable {
  /// Where the tokens of a make's jobserver are.
  package enum Jobserver: Sendable, Equatable {
    /// Open descriptors: to read and to write.
    case descriptors(Int32, Int32)
    case fifo(String)

    fileprivate var flag: String {
      switch self {
      case .descriptors(let reader, let writer): "--jobserver-auth=\(reader),\(writer)"
      case .fifo(let path): "--jobserver-auth=fifo:\(path)"
      }
    }
  }

  /// The variables that have flags; Rust programs read `CARGO_MAKEFLAGS` first.
  package static let variables: Set<String> = ["MAKEFLAGS", "MFLAGS", "CARGO_MAKEFLAGS"]

  private static let blank = UInt8(ascii: " ")
  private static let auth = Array("--jobserver-auth=".utf8)

  private var flags: [ArraySlice<UInt8>]
  /// From `--` on: make's variables.
  private let rest: [ArraySlice<UInt8>]

  package init(_ text: some Sequence<UInt8>) {
    let words = Array(text).split(separator: Self.blank, omittingEmptySubsequences: false)
    let end = words.firstIndex { $0.elementsEqual("--".utf8) } ?? words.endIndex
    (flags, rest) = (Array(words[..<end]), Array(words[end...]))
  }

  package var bytes: [UInt8] { Array((flags + rest).joined(separator: [Self.blank])) }

  /// The last one, which counts.
  package var jobserver: Jobserver? {
    guard let flag = flags.last(where: { $0.starts(with: Self.auth) }) else { return nil }
    let value = String(decoding: flag.dropFirst(Self.auth.count), as: UTF8.self)
    if value.hasPrefix("fifo:") { return .fifo(String(value.dropFirst(5))) }
    let ends = value.split(separator: ",").compactMap { Int32($0) }
    return ends.count == 2 && ends.allSatisfy { $0 >= 0 } ? .descriptors(ends[0], ends[1]) : nil
  }

  /// The flags without a jobserver that is given as descriptors; one that is a FIFO has a path, and stays.
  package func withoutDescriptors() -> MakeFlags {
    var copy = self
    copy.flags.removeAll { flag in
      if flag.starts(with: "--jobserver-fds=".utf8) { return true }
      return flag.starts(with: Self.auth) && !flag.starts(with: "--jobserver-auth=fifo:".utf8)
    }
    return copy
  }

  /// The flags with this jobserver, which has so many tokens, in the place of any other.
  package func with(_ jobserver: Jobserver, jobs: Int) -> MakeFlags {
    var copy = withoutDescriptors()
    copy.flags.removeAll { $0.starts(with: Self.auth) || $0.starts(with: "-j".utf8) }
    // A first word without a hyphen would be taken for letters of options.
    if copy.flags.isEmpty { copy.flags = [[]] }
    copy.flags += ["-j\(jobs)", jobserver.flag].map { Array($0.utf8)[...] }
    return copy
  }
}
