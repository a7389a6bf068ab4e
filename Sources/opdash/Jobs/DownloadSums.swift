import Basics
import Checksums
import Foundation
import Operations
import Session
import Transfers

/// The list of `opdash get --sums`, which has the sums of the downloads and may name the files to download.
struct DownloadSums {
  private let list: SHA256List
  /// The list as messages name it.
  private let name: String

  private static let limit = 64 << 20
  private static let patience = Duration.seconds(60)

  /// Throws where the list has no sum.
  init(_ bytes: [UInt8], from place: String) throws(UsageError) {
    list = SHA256List(bytes)
    name = place == "-" ? "<stdin>" : place.maskedURL
    guard !list.entries.isEmpty else {
      throw UsageError("\(name) has no line with a SHA-256 sum and a name, as sha256sum writes them")
    }
  }

  // MARK: Reading

  /// The bytes of a list: a file, which may be a pipe, `-` for standard input, or a URL.
  static func read(_ place: String) throws(UsageError) -> [UInt8] {
    guard !DownloadRequest.isURL(place) else { return try fetch(place) }
    do throws(FileProblem) {
      return try ForeignFile.contents(place == "-" ? "/dev/stdin" : place, .argument, limit: limit)
    } catch {
      throw UsageError("can't read \(place): \(error.message)")
    }
  }

  private static func fetch(_ text: String) throws(UsageError) -> [UInt8] {
    let reading = ContentOperation(of: text, limit: limit)
    reading.stallTimeout = patience
    let outcome = BlockingCall.value(within: .never) { done in
      reading.whenDone(done)
      reading.start()
    }
    do { return try outcome?.get() ?? [] } catch {
      throw UsageError("can't read \(text.maskedURL): \(error)")
    }
  }

  // MARK: Downloads

  /// The entries with their sums, or a fault for each that the list doesn't name.
  func checked(_ entries: [DownloadList.Entry]) throws -> [DownloadList.Entry] {
    var faults: [String] = []
    // By the last component, because a list may have a million lines.
    let named = Dictionary(grouping: list.entries.filter { $0.name != nil }) { Self.components($0.name ?? "").last }
    let checked = entries.map { entry in
      var entry = entry
      let path = Self.path(ofURL: entry.url)
      let lines = named[path.last] ?? []
      // For http://h/a/x the line `a/x` counts, not `b/x`.
      let depths = lines.map { Self.commonEnd(Self.components($0.name ?? ""), path) }
      let best = zip(lines, depths).filter { $0.1 == depths.max() }.map(\.0)
      let place = entry.place.map { "\($0): " } ?? ""
      switch Set(best.map(\.sum)).count {
      case 0: faults.append("\(place)\(name) has no sum of '\(entry.url.maskedURL)'")
      case 1: entry.sum = best[0].sum
      default:
        let numbers = best.map { "\($0.line)" }.joined(separator: ", ")
        faults.append("\(place)\(name) has several sums of '\(entry.url.maskedURL)', in the lines \(numbers)")
      }
      return entry
    }
    guard faults.isEmpty else { throw Faults(lines: faults) }
    return checked
  }

  /// A download for each file of the list from below the base, to the same path below the folder.
  func entries(base: String) throws -> [DownloadList.Entry] {
    var faults: [String] = []
    var sums: [String: String] = [:]
    let start = Self.folder(ofURL: base)
    let entries = list.entries.compactMap { line -> DownloadList.Entry? in
      let place = "\(name):\(line.line)"
      let path = line.name.flatMap(Self.safePath)
      guard let path else {
        let shown = line.name ?? "the name"
        faults.append(
          "\(place): '\(shown)' is not a path below the list's folder of plain names: download it by its URL")
        return nil
      }
      let joined = path.joined(separator: "/")
      guard sums[joined] == nil || sums[joined] == line.sum else {
        faults.append("\(place): '\(joined)' has another sum in an earlier line")
        return nil
      }
      defer { sums[joined] = line.sum }
      guard sums[joined] == nil else { return nil }
      let encoded = path.map { $0.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? $0 }
      return DownloadList.Entry(
        url: start + encoded.joined(separator: "/"), place: place, path: joined, sum: line.sum)
    }
    guard faults.isEmpty else { throw Faults(lines: faults) }
    return entries
  }

  private static let unreserved = CharacterSet(
    charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")

  /// The names of a path below a folder; nil for one that leads out of it, or that has hidden or unprintable names.
  ///
  /// The author of the list chooses them, who is not the user: `.ssh/authorized_keys` is below the home folder.
  private static func safePath(_ text: String) -> [String]? {
    guard text.utf8.first != UInt8(ascii: "/"), text.utf8.last != UInt8(ascii: "/") else { return nil }
    let names = components(text)
    let areSafe = names.allSatisfy { $0.utf8.first != UInt8(ascii: ".") && FileName.isPrintable($0) }
    return names.isEmpty || !areSafe ? nil : names
  }

  /// The names of a path, without `.`; by bytes, because a slash before a combining mark is a part of another Character.
  private static func components(_ path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }.filter { $0 != "." }
  }

  private static func commonEnd(_ one: [String], _ other: [String]) -> Int {
    zip(one.reversed(), other.reversed()).prefix { $0 == $1 }.count
  }

  /// The URL's text up to its query.
  private static func withoutQuery(_ url: String) -> Substring {
    Substring(url.unicodeScalars.prefix { $0 != "?" && $0 != "#" })
  }

  private static func path(ofURL url: String) -> [String] {
    let names = components(String(withoutQuery(url))).dropFirst(2).map { $0.removingPercentEncoding ?? $0 }
    return names.isEmpty ? ["index.html"] : names
  }

  /// The URL of the folder that a URL is in, or is.
  private static func folder(ofURL url: String) -> String {
    let text = withoutQuery(url)
    let names = text.split(separator: "/", omittingEmptySubsequences: false)
    return names.count <= 3 ? "\(text)/" : names.dropLast().joined(separator: "/") + "/"
  }
}
