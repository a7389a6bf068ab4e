import Basics

/// A tool whose files `opdash import` turns into job files.
package enum ImportFormat: String, CaseIterable, Sendable {
  case ninja
  case procfile
  case compose

  /// A file of the tool in messages.
  var kind: String {
    switch self {
    case .ninja: "a ninja file"
    case .procfile: "a Procfile"
    case .compose: "a process-compose file"
    }
  }

  /// Returns the text of a job file that does the same as a file of the tool.
  ///
  /// `path` is `-` for standard input. Relative paths in both files are relative to the folder of the imported one.
  /// Calls `warn` with everything that a job file can't express; the text has comments about it.
  package func jobFile(
    path: String, environment: [String: String], currentDirectory: String,
    warn: (JobFileFault) -> Void
  ) throws(JobFileFaults) -> String {
    let input = try JobFileInput(path: path, .argument)
    return try jobFile(
      input.bytes, file: input.shown, directory: input.directory(in: currentDirectory), environment: environment,
      warn: warn)
  }

  /// Returns the text of a job file made of `bytes`, which messages call `file`.
  ///
  /// `read` gives the bytes of another file by its absolute path, nil where there is none.
  package func jobFile(
    _ bytes: [UInt8], file: String, directory: String, environment: [String: String] = [:],
    read: @escaping ImportInput.Read = ImportInput.file, warn: (JobFileFault) -> Void = { _ in }
  ) throws(JobFileFaults) -> String {
    let source = try SourceText(bytes, file: file, isYAML: self == .compose)
    let faults = FaultLog(file: file, source: source, directory: directory, kind: kind)
    let input = ImportInput(faults: faults, environment: environment, read: read)
    var imported: ImportedFile?
    do throws(ImportError) {
      imported =
        switch self {
        case .ninja: try NinjaPlan.file(of: input)
        case .procfile: try ProcfileImport(input: input).file()
        case .compose: try ComposeImport.file(of: input)
        }
    } catch {
      faults.add(error.place, error.message)
    }
    guard faults.isEmpty, let imported else { throw faults.all }
    guard !imported.jobs.isEmpty else {
      throw JobFileFaults(file, .start, "there is nothing to do in it: name a file that has something")
    }
    let text = imported.text(of: rawValue, named: FilePath.name(of: file))
    guard text.utf8.count <= SourceText.limit else {
      throw JobFileFaults(
        file, .start, "the job file of it would be larger than \(SourceText.limit >> 20) MiB: import a part of it")
    }
    faults.list.forEach(warn)
    return text
  }
}
