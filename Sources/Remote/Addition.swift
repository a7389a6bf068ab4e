import Basics
import Dispatch
import Foundation
import JobModel

/// A text whose jobs are added to the run of another program, on a connection of its own.
///
/// Instead of a `Hello` comes a line `add`, then the text in lines `part`, each short enough for a line; the last is empty.
/// The answer is one line: `added` with the names, or `refused`.
struct Addition: Sendable {
  private(set) var text: AddedText
  let style: AddedText.Style

  /// The bytes of the text in one line.
  private static let piece = 1 << 20
  private static let kind = "add"

  /// Nil for another first line.
  init?(_ fields: JSONFields) throws(JSONFault) {
    guard try fields.text("type") == Self.kind else { return nil }
    try Wire.checkVersion(fields)
    text = try AddedText(fields)
    // Only the run itself says that one of its jobs has written a text.
    text.writer = nil
    style = AddedText.Style(width: min(try fields.count("width"), 1000), isASCII: try fields.flag("ascii"))
  }

  /// Takes the next line; returns whether the text is whole.
  mutating func take(_ fields: JSONFields) throws(JSONFault) -> Bool {
    guard try fields.text("type") == "part" else { throw JSONFault("a part of the text was expected") }
    let bytes = try AddedText.decoded(fields.text("bytes"))
    guard text.bytes.count + bytes.count <= AddedText.limit else {
      throw JSONFault("the text is larger than \(AddedText.limit >> 20) MiB")
    }
    text.bytes += bytes
    return bytes.isEmpty
  }

  /// The lines that ask for an addition.
  static func lines(_ text: AddedText, _ style: AddedText.Style) -> [UInt8] {
    var lines = Wire.line(kind) { bytes in
      bytes.append(field: "version", Wire.version)
      text.append(to: &bytes)
      bytes.append(field: "width", style.width)
      bytes.append(field: "ascii", style.isASCII)
    }
    for start in stride(from: 0, to: text.bytes.count, by: piece) {
      let end = min(start + piece, text.bytes.count)
      lines += Wire.line("part") { $0.append(field: "bytes", AddedText.encoded(text.bytes[start..<end])) }
    }
    return lines + Wire.line("part") { $0.append(field: "bytes", "") }
  }

  static func answer(_ result: Result<AddedJobs, AdditionRefusal>) -> [UInt8] {
    switch result {
    case .success(let added):
      Wire.line("added") { bytes in
        bytes.append(field: "names", added.names)
        bytes.append(field: "notes", added.notes)
      }
    case .failure(let refusal):
      Wire.line("refused") { bytes in
        bytes.append(field: "reason", refusal.reason)
        bytes.append(field: "lines", refusal.lines)
      }
    }
  }

  /// The answer of a line; throws the refusal.
  static func added(_ fields: JSONFields) throws -> AddedJobs {
    let type = try fields.text("type")
    switch type {
    case "added":
      return AddedJobs(try fields.texts(ifAny: "names") ?? [], notes: try fields.texts(ifAny: "notes") ?? [])
    case "refused": throw AdditionRefusal(try fields.text("reason"), lines: try fields.texts(ifAny: "lines"))
    default: throw fields.unknown("type", type)
    }
  }
}

extension RemoteProgram {
  /// Adds the jobs of a text to the program's run, and waits for the answer; throws an `AdditionRefusal` or a `RemoteError`.
  package func add(
    _ text: AddedText, _ style: AddedText.Style, patience: DispatchTimeInterval = .seconds(60)
  ) throws -> AddedJobs {
    guard let descriptor = takeDescriptor() else { throw RemoteError.ended }
    let queue = DispatchQueue(label: "opdash.remote-addition")
    var channel: LineChannel?
    defer { queue.sync { channel?.close() } }
    let answer: Result<AddedJobs, any Error>? = BlockingCall.value(within: patience) { settle in
      queue.sync {
        channel = LineChannel(
          descriptor, on: queue, lineLimit: Wire.factLimit,
          LineChannel.Handlers(
            receive: { line in settle(Result { try Addition.added(JSONScanner.fields(of: line)) }) }, drained: {},
            ended: { _ in settle(.failure(RemoteError.ended)) }))
        channel?.send(Addition.lines(text, style))
      }
    }
    guard let answer else { throw RemoteError.silent(pid: greeting.pid) }
    do { return try answer.get() } catch let fault as JSONFault {
      throw RemoteError.garbled(fault.message, pid: greeting.pid)
    }
  }
}
