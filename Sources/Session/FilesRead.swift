import Basics

/// The files that a command reads, and must not write to.
package struct FilesRead: Sendable {
  private var names: [FileIdentity: String] = [:]

  package init() {}

  /// Adds the file that a path leads to, if there is one; `what` is as in "the job file".
  package mutating func add(_ path: String, _ what: String) { add(FileIdentity(path: path), "\(what) \(path)") }

  /// Adds an open file; nothing is done about a pipe or a terminal.
  package mutating func add(descriptor: Int32, _ what: String) { add(FileIdentity(descriptor: descriptor), what) }

  /// Adds an open file; `name` is as in "the job file a.yml".
  package mutating func add(_ identity: FileIdentity?, _ name: String) {
    if let identity, names[identity] == nil { names[identity] = name }
  }

  /// Throws if the file to write is one that the command reads, by whatever path; `name` is the written file's.
  package func refuse(_ identity: FileIdentity?, _ name: String) throws(UsageError) {
    guard let identity, let read = names[identity] else { return }
    throw UsageError("\(name) is \(read), which this command reads: name another file")
  }
}
