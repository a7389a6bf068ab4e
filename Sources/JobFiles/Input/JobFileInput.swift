import Basics
import Foundation

/// The bytes of a job file and their source.
struct JobFileInput {
  /// The name of standard input in faults.
  static let standardInput = "<stdin>"

  var bytes: [UInt8] = []
  var shown: String
  /// Whether it is a file with a folder, not a pipe that was passed.
  var isRegular = false

  /// The absolute folder of relative paths in the file.
  func directory(in currentDirectory: String) -> String {
    let folder = isRegular ? FilePath.folder(of: Self.path(of: shown, in: currentDirectory)) : ""
    return FilePath.absolute(folder, in: currentDirectory)
  }

  /// The absolute path of a file by that name.
  static func path(of file: String, in currentDirectory: String) -> String {
    let folder = FilePath.folder(of: file)
    let place = file.isAbsolutePath ? folder : "\(currentDirectory)/\(folder)"
    let real = ForeignFile.isPassed(file) ? nil : BytePath(place).resolved
    // A path that is not UTF-8 can't be a key.
    let known = real.flatMap { String(validating: $0.bytes, as: UTF8.self) } ?? place
    return FilePath.absolute(FilePath.name(of: file), in: known)
  }

  /// Whether there is a file at `path`; true if that can't be determined.
  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR) }

  /// `place` is `argument` if the path is an argument of the program, else `named`.
  init(path: String, _ place: ForeignFile.Place = .named) throws(JobFileFaults) {
    let isStandardInput = path == "-"
    shown = isStandardInput ? Self.standardInput : path
    guard !path.isEmpty else { throw JobFileFaults("''", .start, "no file is named: give the path of a job file") }
    do throws(FileProblem) {
      let path = isStandardInput ? "/dev/stdin" : path
      let descriptor = try ForeignFile.open(path, isStandardInput ? .argument : place)
      defer { close(descriptor) }
      isRegular = !isStandardInput && (place == .named || !ForeignFile.isPassed(path))
      // One byte more tells that there are too many.
      bytes = try ForeignFile.prefix(of: descriptor, path, SourceText.limit + 1)
    } catch {
      throw JobFileFaults(shown, .start, Self.words(error.reason, place))
    }
  }

  private static func words(_ reason: FileProblem.Reason, _ place: ForeignFile.Place) -> String {
    switch reason {
    case .system(ENOENT): "there is no such file: check the path"
    case .system(ENOTDIR): "a part of the path is not a folder: check the path"
    case .system(EACCES), .system(EPERM): "permission denied: make the file readable for you"
    case .system(ELOOP): "its symbolic links lead in a circle: check the path"
    case .system(ENAMETOOLONG): "the path is too long: check it"
    case .system: "can't be read: \(reason.words)"
    case .isFolder: "this is a folder: name a file in it"
    case .isPipe where place == .argument: "this is a named pipe: name a file, or give its content on standard input"
    default: "this is \(reason.words): name a file"
    }
  }
}
