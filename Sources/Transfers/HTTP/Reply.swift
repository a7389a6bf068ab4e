import CCurl
import Foundation

/// The header of one HTTP reply.
struct Reply: Equatable {
  /// Without the line break.
  var statusLine: String
  var status: Int
  private var fields: [(name: String, value: String)] = []

  init?(statusLine line: String) {
    guard line.hasPrefix("HTTP/") else { return nil }
    let words = line.split(separator: " ", maxSplits: 2)
    guard words.count >= 2, words[1].count == 3, let status = Int(words[1]) else { return nil }
    self.status = status
    statusLine = line.hasSuffix(" ") ? String(line.dropLast()) : line
  }

  mutating func add(line: String) {
    if line.first == " " || line.first == "\t" {
      // RFC 9112: an obsolete way to divide a long field.
      if let last = fields.indices.last { fields[last].value += " \(line[...].trimmed)" }
      return
    }
    guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return }
    let value = line[line.utf8.index(after: colon)...]
    fields.append((line[..<colon].lowercased(), String(value.trimmed)))
  }

  /// The first field of a lower-case name.
  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// All fields of a lower-case name, their lists separated: RFC 9110 makes no difference between the two.
  func values(of name: String) -> [String] {
    fields.filter { $0.name == name }.flatMap { field in
      field.value.split(separator: ",", omittingEmptySubsequences: false).map { String($0.trimmed) }
    }
  }

  /// Nil if there is none, or none with a meaning.
  var contentLength: Int64? {
    // RFC 9112: a Content-Length beside a transfer coding has no meaning.
    guard self["transfer-encoding"] == nil else { return nil }
    let lengths = values(of: "content-length")
    let isNumber = lengths.first?.allSatisfy { $0.isASCII && $0.isNumber } ?? false
    return isNumber && Set(lengths).count == 1 ? Int64(lengths[0]) : nil
  }

  /// Whether the length is valid, absent or, beside a transfer coding, ignored; false if malformed or contradictory.
  var hasValidLength: Bool {
    self["transfer-encoding"] != nil || self["content-length"] == nil || contentLength != nil
  }

  /// The part of the file that the body holds, if the server says so; nil for contradictory fields too.
  var contentRange: ContentRange? {
    let ranges = Set(values(of: "content-range"))
    return ranges.count == 1 ? ranges.first.flatMap { ContentRange($0) } : nil
  }

  /// The codings of the body, in their order; nil for a body that is the file as it is.
  var coding: String? {
    let codings = values(of: "content-encoding").map { $0.lowercased() }.filter { $0 != "identity" && !$0.isEmpty }
    return codings.isEmpty ? nil : codings.joined(separator: ", ")
  }

  /// The second of the last change, where the server says it.
  var lastModified: time_t? {
    let date = self["last-modified"].map { curl_getdate($0, nil) } ?? -1
    return date >= 0 ? date : nil
  }

  /// How long the server asks to wait before the next request: its `Retry-After`, at most an hour.
  func retryAfter(now: Date = .now) -> Duration? {
    guard let text = self["retry-after"], !text.isEmpty else { return nil }
    let limit = 3600
    if text.allSatisfy({ $0.isASCII && $0.isNumber }) { return .seconds(min(limit, Int(text) ?? limit)) }
    let date = curl_getdate(text, nil)
    guard date >= 0 else { return nil }
    // By the server's own clock, where it says the time.
    let sent = self["date"].map { curl_getdate($0, nil) } ?? -1
    let start = sent >= 0 ? sent : time_t(now.timeIntervalSince1970)
    return .seconds(max(0, min(limit, Int(clamping: date - start))))
  }

  var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }

  /// As in `GET /sdk.tar.zst 200, 2097152 bytes (HTTP/1.1)`; the query may hold secrets and is left out.
  func note(method: String, url: WireURL, size: String = "") -> String {
    let version = statusLine.prefix { $0 != " " }
    return "\(method) \(url.path) \(status)\(size) (\(version))"
  }

  static func == (left: Reply, right: Reply) -> Bool {
    left.statusLine == right.statusLine && left.fields.elementsEqual(right.fields, by: ==)
  }
}

extension Substring {
  /// Without blanks and tabs at its ends.
  var trimmed: Substring { trimming { $0 == " " || $0 == "\t" } }

  func trimming(while isTrimmed: (Character) -> Bool) -> Substring {
    guard let first = firstIndex(where: { !isTrimmed($0) }), let last = lastIndex(where: { !isTrimmed($0) }) else {
      return ""
    }
    return self[first...last]
  }
}

extension TransferError {
  /// A reply that is not a success.
  static func http(_ reply: Reply) -> TransferError {
    let waits = reply.status == 429 || reply.status == 503
    return TransferError(.http(reply.status), "HTTP \(reply.status)", retryAfter: waits ? reply.retryAfter() : nil)
  }

  static func invalidLength(of reply: Reply) -> TransferError {
    let lengths = reply.values(of: "content-length").joined(separator: ", ").prefix(60)
    return TransferError(.network, "the server's Content-Length is not a length: \(lengths)")
  }

  /// A redirect to an answer before the file was sent.
  static func answeredElsewhere(_ reply: Reply, after done: Int64, of total: Int64) -> TransferError {
    TransferError(
      .http(reply.status), "HTTP \(reply.status) after \(done) of \(total) bytes: give the URL that takes the file")
  }
}
