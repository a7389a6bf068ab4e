import Basics

/// The fault after which the rest of an imported file can't be read.
struct ImportError: Error {
  var place: Place
  var message: String
}

/// A file that is imported, and the other files that it names.
package struct ImportInput {
  /// Returns the bytes of a file by its absolute path; nil for a missing file.
  package typealias Read = (_ path: String) throws(JobFileFaults) -> [UInt8]?

  let faults: FaultLog
  let environment: [String: String]
  let read: Read

  /// Reads a file of the file system.
  package static func file(_ path: String) throws(JobFileFaults) -> [UInt8]? {
    JobFileInput.exists(path) ? try JobFileInput(path: path).bytes : nil
  }

  /// The absolute folder of relative paths: the folder of the first file.
  var directory: String { faults.files[0].directory }

  func absolute(_ path: String) -> String { FilePath.absolute(path, in: directory) }

  /// Reads another file, which gets the next number; nil where there is none.
  func other(_ path: String, at place: Place, isShown: Bool = true) throws(ImportError) -> (number: Int, SourceText)? {
    guard faults.files.count < Place.fileLimit else {
      throw ImportError(place: place, message: "this is more than \(Place.fileLimit) files: put some of them together")
    }
    let shown = FilePath.shown(path, from: faults.files[0].name)
    do throws(JobFileFaults) {
      guard let bytes = try read(absolute(path)) else { return nil }
      let source = try SourceText(bytes, file: shown, isYAML: false)
      faults.add(FaultLog.File(name: shown, source: source, directory: directory, isShown: isShown))
      return (faults.files.count - 1, source)
    } catch {
      let fault = error.faults[0]
      throw ImportError(place: place, message: "\(Quoted.text(shown))\(fault.inside): \(fault.message)")
    }
  }

  /// Reports a feature that a job file can't express, and adds a comment about it once.
  func note(_ place: Place, _ message: String, into remarks: inout [String]) {
    faults.warn(place, message)
    if !remarks.contains(message + ".") { remarks.append(message + ".") }
  }

  /// A file of variables beside the imported one.
  struct Variables {
    var values: [String: String]
    var file: Int
    var source: SourceText
  }

  /// Reads a file of variables, whose faults are reported; nil where there is none.
  func dotenv(_ path: String = ".env", at place: Place = .start) throws(ImportError) -> Variables? {
    guard let (number, source) = try other(path, at: place, isShown: false) else { return nil }
    var reader = DotenvReader(source, file: number, faults: faults, known: environment)
    return Variables(values: reader.read(), file: number, source: source)
  }
}
