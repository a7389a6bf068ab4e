import Basics

/// An input file could not be read.
struct InputError: Error, CustomStringConvertible {
  let path: BytePath
  let reason: String

  var description: String { "cannot read \(path.text): \(reason)" }
}
