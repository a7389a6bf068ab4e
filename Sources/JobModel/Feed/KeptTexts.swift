import Basics
import Foundation

/// A text whose jobs were added to a run, and the names of these.
package struct KeptText: Sendable, Equatable {
  package var text: AddedText
  package var names: [String]

  package init(_ text: AddedText, names: [String]) { (self.text, self.names) = (text, names) }
}

/// The file `added` in a run's folder: a line of JSON for each text whose jobs were added, in order.
///
/// A run that resumes this one reads the texts again, because events state only a part of a job. Confined to one queue.
package struct KeptTexts: Sendable {
  private let path: String
  /// The largest file that is read.
  private static let limit = 256 << 20

  package init(in folder: String) { path = Self.path(in: folder) }

  private static func path(in folder: String) -> String { "\(folder)/added" }

  /// Appends a text; returns what takes it back, or throws why it can't be kept.
  package func keep(_ kept: KeptText) throws(FileProblem) -> @Sendable () -> Void {
    let descriptor = try ForeignFile.open(path, for: .appending, .own)
    defer { close(descriptor) }
    let size = lseek(descriptor, 0, SEEK_END)
    var line = Array("{".utf8)
    kept.text.append(to: &line)
    line.append(field: "names", kept.names)
    line.append(field: "bytes", AddedText.encoded(kept.text.bytes))
    line.append("}\n")
    let takeBack: @Sendable () -> Void = { [path] in if size > 0 { truncate(path, size) } else { unlink(path) } }
    do throws(FileProblem) { try ForeignFile.write(line, to: descriptor, path) } catch {
      takeBack()
      throw error
    }
    return takeBack
  }

  /// The texts of a run's folder; none without a file.
  package static func read(in folder: String) -> [KeptText] {
    let bytes = (try? ForeignFile.contents(path(in: folder), .own, limit: limit)) ?? []
    return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      line.withUnsafeBufferPointer { line -> KeptText? in
        // The program may have been killed while it wrote the last one.
        guard let fields = try? JSONScanner.fields(of: line), var text = try? AddedText(fields),
          let bytes = try? AddedText.decoded(fields.text("bytes")), let names = try? fields.texts(ifAny: "names")
        else { return nil }
        text.bytes = bytes
        return KeptText(text, names: names)
      }
    }
  }
}
