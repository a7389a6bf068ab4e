import CCurl
import Foundation
import Operations

/// The facts about a part that are needed to resume it, kept in its `.meta` file.
struct PartInfo: Codable, Equatable {
  /// The requested URL, before any redirect.
  var url: String
  /// For `If-Range`: a strong entity tag, or the date of the last change.
  var validator: String
  var total: Int64?
  /// The content coding of the bytes; bytes of two codings can't be joined, even under one entity tag.
  var coding: String?
  /// The second of the file's last change.
  var modified: Int?
  /// Whether the last request for the rest of the part has brought no bytes.
  var wasRefused: Bool?

  /// Nil if the reply has no validator that detects a change of the file.
  init?(url: String, reply: Reply) {
    guard let validator = Self.validator(of: reply) else { return nil }
    self.url = url
    self.validator = validator
    total = reply.contentRange?.total ?? reply.contentLength
    coding = reply.coding
    modified = reply.lastModified
  }

  /// Whether the reply has the same content coding and no other validator.
  func agrees(with reply: Reply) -> Bool {
    let current = validator.hasPrefix("\"") ? reply["etag"] : reply["last-modified"]
    return coding == reply.coding && (current == nil || current == validator)
  }

  private static func validator(of reply: Reply) -> String? {
    if let tag = reply["etag"], tag.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") { return tag }
    // A date has seconds only: a file that changed in the second of the reply may change again under the same date.
    guard let changed = reply["last-modified"], let sent = reply["date"] else { return nil }
    let changedAt = curl_getdate(changed, nil)
    return changedAt >= 0 && changedAt < curl_getdate(sent, nil) ? changed : nil
  }
}

extension PartInfo {
  /// More than any URL and tag need.
  private static let limit = 1 << 20

  /// Nil if the file is missing or can't be used.
  init?(readFrom path: String) {
    // A file planted by another user would claim that his bytes belong to the download.
    guard let bytes = try? ForeignFile.contents(path, .shared, limit: Self.limit),
      let info = try? JSONDecoder().decode(PartInfo.self, from: Data(bytes)),
      // The validator becomes a header.
      info.validator.unicodeScalars.allSatisfy({ $0.value >= 32 })
    else { return nil }
    self = info
  }

  /// Creates the file; there must be none.
  func write(to path: String) throws(TransferError) {
    guard let data = try? JSONEncoder().encode(self) else { throw TransferError(.file, "\(path): not encoded") }
    // The URL may hold a secret.
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .file(path) }
    defer { close(file) }
    let count = data.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
    guard count == data.count else {
      let error = count < 0 ? errno : ENOSPC
      unlink(path)
      throw .file(path, error: error)
    }
  }
}
