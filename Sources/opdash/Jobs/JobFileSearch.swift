import Basics
import Foundation
import JobFiles
import JobModel
import Session

/// Finds the job file of a command line that may name none.
struct JobFileSearch {
  /// Of several in one folder the first is taken.
  static let names = ["opdash.yml", "opdash.yaml", "opdash.json"]
  static let extensions = ["yml", "yaml", "json"]

  /// A job file, and what of the command line names jobs.
  struct Choice: Equatable {
    var file: String
    var jobs: [String] = []
    /// Whether the file was found in a folder above the current one.
    var isAbove = false

    /// The named jobs and all that they need; all jobs without names.
    ///
    /// The names take the forms of `needs`: a job, a job with a matrix for its instances, or a pattern with `*` and `?`.
    /// With `isBare`, the first may have been meant as a command.
    func selection(in graph: JobGraph, isBare: Bool = false) throws(UsageError) -> JobGraph {
      guard !jobs.isEmpty else { return graph }
      var wanted: [JobID] = []
      for name in jobs {
        let found = graph.jobs(matching: name)
        guard !found.isEmpty else {
          let known = graph.jobs.map(\.name) + Set(graph.jobs.compactMap(\.matrix)).sorted()
          guard isBare, name == jobs.first else {
            let note = name.holds("/") && name == jobs.first ? ", and it is not a file" : ""
            throw UsageError("\(file) has no job '\(name)'\(note)" + NearestName.hint(for: name, in: known))
          }
          throw UsageError(
            "'\(name)' is neither a command nor a job of \(file)"
              + NearestName.hint(for: name, in: CommandName.allCases.map(\.rawValue) + known))
        }
        wanted += found
      }
      var graph = graph
      // Who names a job starts it.
      for id in graph.needed(by: wanted) { graph.jobs[id.index].isManual = false }
      return graph.restricted(to: wanted + graph.finalJobs(after: wanted))
    }
  }

  let directory: String

  /// Takes the first word as a file if it is one by its form or, where no folder has a job file, by any name.
  func choose(_ words: [String]) throws(UsageError) -> Choice {
    if let first = words.first, isFile(first) { return Choice(file: first, jobs: Array(words.dropFirst())) }
    if let found = try find() { return Choice(file: found.path, jobs: words, isAbove: found.isAbove) }
    guard let first = words.first else {
      throw UsageError("no job file is named, and there is no opdash.yml here or in a folder above")
    }
    guard access(path(first), F_OK) == 0 else {
      throw UsageError("'\(first)' is neither a file nor a job: there is no opdash.yml here or in a folder above")
    }
    return Choice(file: first, jobs: Array(words.dropFirst()))
  }

  /// For a command that takes no jobs: any word is the file.
  func choose(file: String?) throws(UsageError) -> Choice {
    guard let file else { return try choose([]) }
    return Choice(file: file)
  }

  /// The words of an earlier command line that name jobs; it had the absolute `file`, whether it named it or not.
  func jobs(_ words: [String], of file: String) -> [String] {
    guard let first = words.first, isFile(first) || JobFile.path(of: first, in: directory) == file else {
      return words
    }
    return Array(words.dropFirst())
  }

  /// Whether a word is a job file and no job; a path that leads to no file may be a job, as `build[linux/amd64]` is.
  private func isFile(_ word: String) -> Bool {
    let isDoubtful =
      word.holds("/") && !Self.hasEnding(word) && !["/", "./", "../"].contains(where: word.hasPrefix)
    return isDoubtful ? access(path(word), F_OK) == 0 || (try? find()) == nil : Self.isFile(word)
  }

  /// Whether a word has the form of a job file: `-`, a path, or a name that ends as a job file's does.
  static func isFile(_ word: String) -> Bool { word == "-" || word.holds("/") || hasEnding(word) }

  private static func hasEnding(_ word: String) -> Bool { extensions.contains { word.hasSuffix(".\($0)") } }

  /// The operand that names a file to a command, with a space before it; empty for the file that it finds without one.
  func operand(for file: String) -> String {
    if (try? find())?.path == file { return "" }
    return " " + ShellText.word(Self.isFile(file) && file.utf8.first != UInt8(ascii: "-") ? file : "./\(file)")
  }

  /// The job file here or in the nearest folder above, relative to here.
  func find() throws(UsageError) -> (path: String, isAbove: Bool)? {
    var folder = directory
    var prefix = ""
    while true {
      for name in Self.names {
        let file = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
        guard let status = FileStatus(file, followsLink: true), status.kind != S_IFDIR, let link = FileStatus(file)
        else { continue }
        if !prefix.isEmpty { try checkOwners([link.value.st_uid, status.value.st_uid], of: prefix + name) }
        return (prefix + name, !prefix.isEmpty)
      }
      guard folder != "/", !folder.isEmpty else { return nil }
      folder = NSString(string: folder).deletingLastPathComponent
      prefix += "../"
    }
  }

  /// A file above the current folder must not belong to another user, as `/tmp/opdash.yml` may, nor be the target of
  /// another user's link.
  private func checkOwners(_ owners: Set<uid_t>, of file: String) throws(UsageError) {
    let others = owners.subtracting([geteuid(), 0])
    var here = stat()
    guard !others.isEmpty, stat(directory, &here) == 0, others != [here.st_uid] else { return }
    throw UsageError("\(file) belongs to another user: name it to use it nevertheless")
  }

  private func path(_ name: String) -> String { directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)" }
}
