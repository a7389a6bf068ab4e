import Foundation

/// The header of one HTTP reply.
struct Reply: Equatable {
  /// Without the line break.
  var statusLine: String
  var status: Int
  private var fields: [(name: String, value: String)] = []

  /// Nil where `line` is no status line.
  init?(statusLine line: String) {
    guard line.hasPrefix("HTTP/") else { return nil }
    let words = line.split(separator: " ", maxSplits: 2)
    guard words.count >= 2, words[1].count == 3, let status = Int(words[1]) else { return nil }
    self.status = status
    statusLine = line.hasSuffix(" ") ? String(line.dropLast()) : line
  }

  mutating func add(line: String) {
    guard let colon = line.firstIndex(of: ":") else { return }
    let value = line[line.index(after: colon)...]
    fields.append((line[..<colon].lowercased(), String(value.trimming(while: { $0 == " " || $0 == "\t" }))))
  }

  /// The first field of a lower-case name.
  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  var contentLength: Int64? {
    // RFC 9112: a Content-Length beside a transfer coding has no meaning.
    guard self["transfer-encoding"] == nil, let length = self["content-length"].flatMap({ Int64($0) }), length >= 0
    else { return nil }
    return length
  }

  var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }

  /// As in `GET /sdk.tar.zst 200, 2097152 bytes (HTTP/1.1)`; the query may hold secrets and is left out.
  func note(method: String, url: URL, size: String = "") -> String {
    let version = statusLine.prefix { $0 != " " }
    return "\(method) \(url.path().isEmpty ? "/" : url.path()) \(status)\(size) (\(version))"
  }

  static func == (left: Reply, right: Reply) -> Bool {
    left.statusLine == right.statusLine && left.fields.elementsEqual(right.fields, by: ==)
  }
}

extension Substring {
  func trimming(while isTrimmed: (Character) -> Bool) -> Substring {
    guard let first = firstIndex(where: { !isTrimmed($0) }), let last = lastIndex(where: { !isTrimmed($0) }) else {
      return ""
    }
    return self[first...last]
  }
}
