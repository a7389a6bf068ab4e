import Foundation
import JobModel

/// Reads job files into graphs, or reports all their faults.
package enum JobFile {
  /// Reads the file at `path`, or standard input for `-`.
  ///
  /// Relative paths in the file are relative to its folder; in standard input or a pipe, to `currentDirectory`, which is
  /// absolute. `environment` is for `${env.NAME}`; `vars` replace values of the file. `warn` is called with each warning about
  /// a file without faults; those about a file with faults are among these.
  package static func load(
    path: String, environment: [String: String], currentDirectory: String, vars: [String: String] = [:],
    warn: (JobFileFault) -> Void = { _ in }
  ) throws(JobFileFaults) -> JobGraph {
    let input = try JobFileInput(path: path)
    let directory =
      input.isRegular
      ? FilePath.absolute(FilePath.folder(of: path), in: currentDirectory) : FilePath.absolute("", in: currentDirectory)
    return try decode(
      input.bytes, file: input.shown, directory: directory, environment: environment, vars: vars, warn: warn)
  }

  /// Decodes the text of a job file, which faults call `file`; `directory` is the absolute folder of relative paths.
  package static func decode(
    _ bytes: [UInt8], file: String, directory: String, environment: [String: String] = [:],
    vars: [String: String] = [:],
    warn: (JobFileFault) -> Void = { _ in }
  ) throws(JobFileFaults) -> JobGraph {
    var source = try SourceText(bytes, file: file)
    let faults = FaultLog(file: file, source: source)
    let root: YAMLNode?
    do throws(YAMLParser.Problem) {
      root = try read(&source, faults)
    } catch {
      // The rest can't be read; earlier faults are reported too.
      faults.add(error.place, error.message)
      throw faults.all
    }
    let variables = Variables(environment: environment, source: source, faults: faults)
    let decoder = JobFileDecoder(
      values: ValueReader(faults: faults, variables: variables), directory: directory,
      standardName: standardName(file))
    let graph = decoder.decode(root ?? .null, overrides: vars)
    guard let graph, faults.isEmpty else { throw faults.all }
    faults.list.forEach(warn)
    return graph
  }

  private static func read(_ source: inout SourceText, _ faults: FaultLog) throws(YAMLParser.Problem) -> YAMLNode? {
    do throws(YAMLParser.Problem) {
      return try YAMLReader.read(source, faults: faults)
    } catch {
      guard error.isBadEscape, let joined = JSONEscapes.joined(source.bytes) else { throw error }
      source = SourceText(checked: joined)
      return try YAMLReader.read(source, faults: faults)
    }
  }

  /// `release` for `ci/release.yml`.
  private static func standardName(_ file: String) -> String {
    let name = FilePath.name(of: file)
    for end in [".yml", ".yaml", ".json"] where name.hasSuffix(end) && name.count > end.count {
      return String(name.dropLast(end.count))
    }
    return file == JobFileInput.standardInput ? "stdin" : name
  }
}
