import Foundation

/// A path as the system has it: bytes, which need not be text.
///
/// A String can't be the key of a file. Two equal Strings may name two files, because `é` is one scalar or two; a name
/// that is not UTF-8 has no String; and a `/` before a combining mark is not the Character `/`.
package struct BytePath: Hashable, Comparable, Sendable {
  package let bytes: [UInt8]

  package init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  package init(_ text: String) { bytes = Array(text.utf8) }

  /// For messages: bytes that are not UTF-8 are shown as U+FFFD.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The names of a path, without empty ones.
  package var components: [BytePath] { bytes.split(separator: UInt8(ascii: "/")).map { BytePath($0) } }

  package func appending(_ name: BytePath) -> BytePath { BytePath(bytes + [UInt8(ascii: "/")] + name.bytes) }

  /// The folder that holds the last name; empty for a name in the root folder.
  package var folder: BytePath {
    BytePath(bytes.lastIndex(of: UInt8(ascii: "/")).map { bytes[..<$0] } ?? [])
  }

  /// The path from a folder that it is below of; nil if it is not.
  package func relative(to folder: BytePath) -> BytePath? {
    let start = folder.bytes + [UInt8(ascii: "/")]
    return bytes.starts(with: start) ? BytePath(bytes.dropFirst(start.count)) : nil
  }

  package static func < (left: BytePath, right: BytePath) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  /// The path for a function of C.
  package var cString: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }

  // MARK: The file system

  /// The names in the folder, in no order; nil, with `errno`, if it can't be read.
  package func names() -> [BytePath]? {
    guard let folder = opendir(cString) else { return nil }
    defer {
      let problem = errno
      closedir(folder)
      errno = problem
    }
    var names: [BytePath] = []
    errno = 0
    while let entry = readdir(folder) {
      // Reads the name in place, up to its NUL: the entry's memory may end there.
      let name = BytePath(withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) })
      if name.bytes != Array(".".utf8), name.bytes != Array("..".utf8) { names.append(name) }
      errno = 0
    }
    return errno == 0 ? names : nil
  }

  /// The target of the symbolic link; nil if the path is not one.
  package var linkTarget: BytePath? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(cString, &target, target.count)
    return count < 0 ? nil : BytePath(target.prefix(count).map { UInt8(bitPattern: $0) })
  }

  /// The path without symbolic links; nil if nothing is there.
  package var resolved: BytePath? {
    guard let real = realpath(cString, nil) else { return nil }
    defer { free(real) }
    return BytePath(UnsafeRawBufferPointer(start: real, count: strlen(real)))
  }
}
