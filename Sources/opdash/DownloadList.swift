import Foundation
import JobModel
import Operations
import Session

/// The jobs of `opdash get`: one download for each URL.
struct DownloadList {
  /// A URL and its place, `FILE:LINE`; nil for the command line.
  struct Entry: Equatable {
    var url: String
    var place: String?
  }

  /// The URLs of a list, one on each line; empty lines and lines with # at the start are skipped.
  static func entries(in text: String, file: String) -> [Entry] {
    text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated().compactMap { index, line in
      let url = line.trimmingCharacters(in: .whitespaces)
      return url.isEmpty || url.hasPrefix("#") ? nil : Entry(url: url, place: "\(file):\(index + 1)")
    }
  }

  /// The graph, or one fault for each entry that is no URL.
  static func graph(_ entries: [Entry], folder: String) -> Result<JobGraph, Faults> {
    var faults: [String] = []
    var taken: [String: Int] = [:]
    var jobs: [Job] = []
    for entry in entries {
      guard let url = address(entry.url) else {
        let place = entry.place.map { "\($0): " } ?? ""
        faults.append("\(place)'\(entry.url.maskedURL)' is no URL to download: write http://… or https://…")
        continue
      }
      let name = unique(fileName(url), &taken)
      let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      let retry = RetryPolicy(max: 2, jitter: true, only: [.network, .timeout, .serverError, .tooManyRequests])
      jobs.append(Job(name: name, work: .download(DownloadWork(url: entry.url, file: path)), retry: retry))
    }
    if entries.isEmpty { faults.append("there is no URL to download") }
    return faults.isEmpty ? .success(JobGraph(name: "get", jobs: jobs)) : .failure(Faults(lines: faults))
  }

  private static func address(_ text: String) -> URL? {
    guard let url = URL(string: text, encodingInvalidCharacters: false), let host = url.host(), !host.isEmpty else {
      return nil
    }
    return ["http", "https"].contains(url.scheme?.lowercased()) ? url : nil
  }

  /// The last path component as a safe file name.
  private static func fileName(_ url: URL) -> String {
    let encoded = url.path(percentEncoded: true).split(separator: "/").last.map(String.init) ?? ""
    let decoded = encoded.removingPercentEncoding ?? encoded
    let safe = String(decoded.map { $0 == "/" || $0 == "\\" || !isPrintable($0) ? "_" : $0 }.prefix(200))
    return ["", ".", ".."].contains(safe) ? "index.html" : safe
  }

  private static func isPrintable(_ character: Character) -> Bool {
    character.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .surrogate: false
      default: true
      }
    }
  }

  /// `a.txt`, then `a-2.txt`, `a-3.txt`; case does not count, as on some file systems.
  private static func unique(_ name: String, _ taken: inout [String: Int]) -> String {
    let key = name.lowercased()
    guard var number = taken[key] else {
      taken[key] = 1
      return name
    }
    let dot = name.dropFirst().firstIndex(of: ".") ?? name.endIndex
    while true {
      number += 1
      let candidate = "\(name[..<dot])-\(number)\(name[dot...])"
      guard taken[candidate.lowercased()] == nil else { continue }
      taken[key] = number
      taken[candidate.lowercased()] = 1
      return candidate
    }
  }
}

/// The faults of a command's input, one line each.
struct Faults: Error, Equatable {
  var lines: [String]
}
