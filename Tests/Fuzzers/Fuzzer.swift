import Checksums
import Foundation
import JobFiles
import NcursesTerminal
import Operations
import Screen

@testable import Processes
@testable import Slurm
@testable import Transfers

/// One parser of foreign input, with what must be true of its answer; a broken rule stops the process.
private let subjects: [String: @Sendable ([UInt8]) -> Void] = [
  "jobs": { bytes in
    do throws(JobFileFaults) {
      let graph = try JobFile.decode(bytes, file: "f", directory: "/d", environment: ["HOME": "/h"])
      precondition(!graph.jobs.isEmpty, "a graph without jobs")
    } catch {
      precondition(error.faults.allSatisfy { $0.line > 0 && $0.column > 0 }, "a fault without a place")
    }
  },
  "settings": { bytes in
    let vocabulary: SettingsFile.Vocabulary = (
      actions: ["cancel", "kill", "log", "help"].map {
        (name: $0, keys: [.character($0.first ?? "x")], isNeeded: $0 == "help")
      }, elements: ["failed", "executing"]
    )
    guard let settings = try? SettingsFile.decode(bytes, file: "f", vocabulary) else { return }
    let keys = settings.keys.values.joined()
    precondition(Set(keys).count == keys.count && settings.keys["help"]?.isEmpty != true, "keys that can't be")
  },
  "text": { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    check(JobText(line: bytes).plain, allowing: [])
    check(JobText(written: text).plain, allowing: ["\t"])
    check(JobText.clean(text).text, allowing: ["\t"])
    check(withoutColors(JobText.clean(text, keepingColor: true).text), allowing: ["\t"])
    precondition(JobText.clean(JobText.clean(text).text) == JobText.clean(text), "cleaning changes clean text")
  },
  "keys": { bytes in
    var whole = InputDecoder()
    // After the first flush a sequence may still begin.
    let all = whole.feed(bytes) + whole.flush() + whole.flush()
    var bytewise = InputDecoder()
    var each: [DecodedInput] = []
    for byte in bytes { each += bytewise.feed([byte]) }
    precondition(
      scalars(each + bytewise.flush() + bytewise.flush()) == scalars(all), "the division into reads changes the keys")
    precondition(whole.patience == nil, "something is held back after a flush")
  },
  "ranges": { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    guard let range = ContentRange(text) else { return }
    precondition(range.start >= 0, "a range before the beginning")
  },
  "progress": { bytes in
    var known = KnownProgress()
    var splitter = LineSplitter(.standardOutput)
    let patterns = [#"(\d+)/(\d+)"#, #"([-\d.eE]+)%"#, #"([^ ]*) of ([^ ]*)"#].compactMap { ProgressPattern($0) }
    for piece in bytes.split(separator: 0, omittingEmptySubsequences: false) {
      let output = splitter.feed(Array(piece))
      if let progress = known.newest(in: output) { check(progress) }
      for pattern in patterns { if case .progress(let progress) = pattern.newest(in: output) { check(progress) } }
    }
  },
  "replay": { bytes in
    // A recording as it is, or one that the bytes choose.
    var noise = Noise(bytes)
    let events = Playing.events(of: bytes.first == UInt8(ascii: "{") ? bytes : noise.recording())
    let choice = Int(bytes.last ?? 0)
    if choice.isMultiple(of: 2) {
      Playing.draw(events, choice: choice / 2)
    } else {
      Playing.report(events, choice: choice / 2)
    }
  },
  "remote": { bytes in
    let lines = bytes.split(separator: 0x0A).map(Array.init)
    lines.forEach(Conversing.command)
    _ = Conversing.run(of: lines)
  },
  "conversation": { bytes in
    var (noise, recording) = (Noise(Array(bytes[..<(bytes.count / 2)])), Noise(Array(bytes[(bytes.count / 2)...])))
    let lines = Conversing.conversation(&noise, of: Playing.events(of: recording.recording(upTo: 60)))
    Playing.draw(Conversing.run(of: lines), choice: Int(bytes.last ?? 0))
  },
  "store": { bytes in
    var noise = Noise(bytes)
    let isPruned = noise.chance(in: 16)
    NoisyStore.shared.write(&noise)
    try? NoisyStore.shared.read()
    if isPruned { NoisyStore.shared.prune() }
  },
  "slurm": { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    _ = SlurmResources(name: text, constraint: text, options: [text]).faults.map(\.message)
    let nodes = AllocatedNode.nodes(in: text)
    precondition(
      nodes.count <= AllocatedNode.limit && nodes.allSatisfy { $0.cpus >= 0 && $0.gpus >= 0 }, "impossible nodes")
    precondition(AllocatedNode.expanded(text).count <= AllocatedNode.limit, "a list without end")
    var ids: [SlurmJobID] = []
    for line in text.split(separator: "\n") {
      let records = [
        SlurmRecord(queueLine: line), SlurmRecord(controlLine: line), SlurmRecord(accountingLine: line),
      ].compactMap(\.self)
      for record in records { _ = record.end.map { SlurmFailure($0, id: record.id).description } }
      ids += records.map(\.id) + [SlurmRecord.status(line: line)?.id].compactMap(\.self)
    }
    precondition(ids.words.count <= ids.count, "more words than jobs")
  },
  "sums": { bytes in
    let list = SHA256List(bytes)
    precondition(list.entries.allSatisfy { SHA256Sum.isHex($0.sum) && $0.line > 0 }, "an entry without a sum")
    let named = list.entries.filter { $0.name != nil }
    // As sha256sum writes names that need escapes.
    let lines = named.map { entry in
      let name = (entry.name ?? "").utf8.flatMap { byte -> [UInt8] in
        switch byte {
        case UInt8(ascii: "\\"): Array(#"\\"#.utf8)
        case UInt8(ascii: "\n"): Array(#"\n"#.utf8)
        case UInt8(ascii: "\r"): Array(#"\r"#.utf8)
        default: [byte]
        }
      }
      return Array("\\\(entry.sum)  ".utf8) + name
    }
    let again = SHA256List(Array(lines.joined(separator: [UInt8(ascii: "\n")]))).entries
    precondition(again.map(\.name) == named.map(\.name) && again.map(\.sum) == named.map(\.sum), "another list")
  },
]

private func check(_ progress: OperationProgress) {
  let total = progress.total ?? .max
  precondition(
    progress.completed >= 0 && total > 0 && (progress.fraction.map { (0...1).contains($0) } ?? true), "\(progress)")
}

/// The same with each character as its scalars: one that combines with the character before it may come in another read.
private func scalars(_ input: [DecodedInput]) -> [DecodedInput] {
  input.flatMap { item in
    func keys(_ character: Character) -> [DecodedInput] {
      character.unicodeScalars.map { .key(.character(Character($0))) }
    }
    return switch item {
    case .key(.character(let character)): keys(character)
    case .alt(.character(let character)): [.key(.escape)] + keys(character)
    default: [item]
    }
  }
}

/// The text without its `ESC [ … m`, each of digits, semicolons and colons.
private func withoutColors(_ text: String) -> String {
  var rest = Array(text.utf8)[...]
  var bytes: [UInt8] = []
  while let byte = rest.first {
    let sequence = rest.dropFirst(2).prefix { (0x30...0x3B).contains($0) }
    let isColor = rest.starts(with: [0x1B, 0x5B]) && rest.dropFirst(2 + sequence.count).first == UInt8(ascii: "m")
    rest = rest.dropFirst(isColor ? sequence.count + 3 : 1)
    if !isColor { bytes.append(byte) }
  }
  return String(decoding: bytes, as: UTF8.self)
}

private func check(_ text: String, allowing allowed: Set<Unicode.Scalar>) {
  for scalar in text.unicodeScalars where !allowed.contains(scalar) {
    let category = scalar.properties.generalCategory
    precondition(category != .control && !scalar.properties.isBidiControl, "\(scalar.value) reaches the terminal")
  }
}

private let subject = ProcessInfo.processInfo.environment["OPDASH_FUZZ"].flatMap { subjects[$0] }

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let subject else {
    print("OPDASH_FUZZ must be one of \(subjects.keys.sorted().joined(separator: ", "))")
    exit(2)
  }
  subject(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}

/// The main function where SwiftPM builds the program beside tests, which may not have two of that name.
@_cdecl("fuzzer_main")
public func fuzzerMain(
  _ count: CInt, _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
  var (count, words) = (count, words)
  return runDriver(&count, &words, fuzz)
}

/// libFuzzer's own main function.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ count: UnsafeMutablePointer<CInt>,
  _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
  _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
