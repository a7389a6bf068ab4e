import Basics
import Foundation
import JobFiles
import JobModel
import Operations
import Session
import Transfers

/// The downloads that a command line asks for.
struct DownloadRequest: Equatable {
  var urls: [String] = []
  /// A file with a URL on each line, `-` for standard input.
  var list: String?
  var folder: String?
  var existing = DownloadWork.Existing.number
  var usesServerName = false
  /// The time without a moved byte after which a download fails; zero for no limit.
  var stall = DownloadWork.standardStall
  /// A list of SHA-256 sums: a file, `-` for standard input, or a URL.
  var sums: String?
  /// The URL below which the files of that list are.
  var base: String?

  /// Whether a list of sums is to be downloaded.
  static func isURL(_ place: String) -> Bool { place.firstMatch(of: #/^(?i:https?):\/\//#) != nil }

  /// The URL below which all files of the list of sums are to be downloaded; nil if the URLs are given otherwise.
  var listedBase: String? {
    guard urls.isEmpty, list == nil, let sums else { return nil }
    return base ?? (Self.isURL(sums) ? sums : nil)
  }
}

/// The jobs of `opdash get`: one download for each URL.
struct DownloadList {
  /// The number of downloads at once, unless the command line says another.
  static let slots = 5

  /// A URL and its place, `FILE:LINE`; nil for the command line.
  struct Entry: Equatable {
    var url: String
    var place: String?
    /// The file's path below the folder, where a list has chosen it.
    var path: String?
    var sum: String?
  }

  /// The URLs of a list, one on each line; empty lines, lines with # at the start and a byte order mark are skipped.
  static func entries(in text: String, file: String) -> [Entry] {
    let lines = text.unicodeScalars.first == "\u{FEFF}" ? text.unicodeScalars.dropFirst() : text.unicodeScalars[...]
    return String(lines).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated().compactMap {
      index, line in
      let url = line.trimmingCharacters(in: .whitespaces)
      return url.isEmpty || url.hasPrefix("#") ? nil : Entry(url: url, place: "\(file):\(index + 1)")
    }
  }

  /// A million URLs.
  private static let limit = 64 << 20

  /// The text of a list, which may be a pipe; `-` is standard input.
  static func read(_ path: String) throws(UsageError) -> String {
    do throws(FileProblem) {
      let bytes = try ForeignFile.contents(path == "-" ? "/dev/stdin" : path, .argument, limit: limit)
      return bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(WireURL.text)
        .joined(separator: "\n")
    } catch {
      throw UsageError("can't read \(path): \(error.message)")
    }
  }

  /// The graph, or one fault for each entry that isn't a URL; `folder` is absolute.
  static func graph(_ entries: [Entry], _ request: DownloadRequest, folder: String) -> Result<JobGraph, Faults> {
    var faults: [String] = []
    var taken: [String: Int] = [:]
    var jobs: [Job] = []
    for entry in entries {
      guard WebAddress.fault(in: entry.url) == nil, (try? WireURL(entry.url)) != nil else {
        let place = entry.place.map { "\($0): " } ?? ""
        let remedy = entry.url.contains(" ") ? "write a blank as %20" : "write http://… or https://…"
        faults.append("\(place)'\(entry.url.maskedURL)' is no URL to download: \(remedy)")
        continue
      }
      let name = entry.path ?? unique(FileName.of(entry.url), &taken)
      let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      let retry = RetryPolicy(max: 2, jitter: true, only: [.network, .timeout, .serverError, .tooManyRequests])
      let work = DownloadWork(
        url: entry.url, file: path, sha256: entry.sum, existing: request.existing,
        usesServerName: request.usesServerName, stall: request.stall)
      jobs.append(Job(name: name, work: .download(work), retry: retry))
    }
    if entries.isEmpty { faults.append("there is no URL to download") }
    return faults.isEmpty ? .success(JobGraph(name: "get", jobs: jobs, slots: slots)) : .failure(Faults(lines: faults))
  }

  /// `a.txt`, then `a.txt.1`, `a.txt.2`; case does not count, as on some file systems.
  private static func unique(_ name: String, _ taken: inout [String: Int]) -> String {
    var number = taken[name.lowercased()] ?? 0
    var candidate = FileName.numbered(name, number)
    while taken[candidate.lowercased()] != nil {
      number += 1
      candidate = FileName.numbered(name, number)
    }
    // Where the next search for the same name begins.
    taken[name.lowercased()] = number + 1
    if number > 0 { taken[candidate.lowercased()] = 1 }
    return candidate
  }
}

/// The faults of a command's input, one line each.
struct Faults: Error, Equatable {
  var lines: [String]
}
