import Basics
import Foundation
import JobModel

/// Reads job files into graphs, or reports all their faults.
package enum JobFile {
  /// Reads the file at `path`, or standard input for `-`, and the files that it includes.
  ///
  /// Relative paths in the file are relative to its folder; in standard input or a pipe, to `currentDirectory`, which is
  /// absolute. `environment` is for `${env.NAME}`; `vars` replace values of the file. `warn` is called with each warning about
  /// a file without faults; those about a file with faults are among these.
  package static func load(
    path: String, environment: [String: String], currentDirectory: String, vars: [String: String] = [:],
    warn: (JobFileFault) -> Void = { _ in }
  ) throws(JobFileFaults) -> JobGraph {
    let text = try text(path: path, currentDirectory: currentDirectory)
    return try decode(
      text.bytes, file: text.file, directory: text.directory, environment: environment, vars: vars, warn: warn)
  }

  /// The text of a file, or of standard input for `-`, with its name in messages and the folder of its relative paths.
  package static func text(path: String, currentDirectory: String) throws(JobFileFaults) -> AddedText {
    let input = try JobFileInput(path: path, .argument)
    return AddedText(input.bytes, file: input.shown, directory: input.directory(in: currentDirectory))
  }

  /// The absolute path of a job file: the key of its recorded runs.
  ///
  /// Symbolic links of its folder are resolved, as the system does before it follows `..`. The file may be a link
  /// itself: relative paths begin beside the link. A passed descriptor keeps its name.
  package static func path(of file: String, in currentDirectory: String) -> String {
    JobFileInput.path(of: file, in: currentDirectory)
  }

  /// Decodes the text of a job file, which faults call `file`; `directory` is the absolute folder of relative paths.
  ///
  /// Files that it names with `include` and `dotenv` are read. With `known`, the file extends a run: the graph
  /// has the new jobs only, whose identifiers follow the known ones, and the pools that the run lacks.
  package static func decode(
    _ bytes: [UInt8], file: String, directory: String, environment: [String: String] = [:],
    vars: [String: String] = [:], addingTo known: KnownJobs? = nil, warn: (JobFileFault) -> Void = { _ in }
  ) throws(JobFileFaults) -> JobGraph {
    let source = try SourceText(bytes, file: file)
    let faults = FaultLog(file: file, source: source, directory: directory)
    var root: YAMLNode
    do throws(YAMLError) {
      root = try YAMLReader.read(0, faults) ?? .null
    } catch {
      // The rest can't be read; earlier faults are reported too.
      faults.add(error.place, error.message)
      throw faults.all
    }
    var parts = JobFileParts(consume root, faults: faults, environment: environment)
    let variables = Variables(environment: environment.merging(parts.dotenv) { $1 }, faults: faults)
    let values = ValueReader(faults: faults, variables: variables)
    let secrets = SecretReader(parts, values, environment: environment, overrides: vars)
    let tree = parts.takeRoot()
    let decoder = JobFileDecoder(values: values, parts: parts, standardName: standardName(file), known: known)
    var graph = decoder.decode(consume tree, overrides: vars)
    graph?.hide(faults.secrets.union(known?.secrets ?? []))
    graph?.includedFiles = parts.paths
    secrets.warnOfMissing()
    guard let graph, faults.isEmpty else { throw faults.all }
    faults.list.forEach(warn)
    return graph
  }

  /// `release` for `ci/release.yml`.
  private static func standardName(_ file: String) -> String {
    let name = FilePath.name(of: file)
    for end in [".yml", ".yaml", ".json"] where name.hasSuffix(end) && name.count > end.count {
      return String(name.dropLast(end.count))
    }
    return file == JobFileInput.standardInput || ForeignFile.isPassed(file) ? "stdin" : name
  }
}
