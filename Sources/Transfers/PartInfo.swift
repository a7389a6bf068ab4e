import CCurl
import Foundation

/// What must be known of a part to go on with it.
struct PartInfo: Codable, Equatable {
  /// The one that was asked for, before any redirect.
  var url: String
  /// What stands in `If-Range`: a strong entity tag, or the date of the last change.
  var validator: String
  var total: Int64?

  /// Nil where the reply has nothing that would tell a changed file from the same one.
  init?(url: String, reply: Reply) {
    guard let validator = Self.validator(of: reply) else { return nil }
    self.url = url
    self.validator = validator
    total = reply.contentLength
  }

  /// Whether a reply is of the same file, as far as it says.
  func agrees(with reply: Reply) -> Bool {
    let current = validator.hasPrefix("\"") ? reply["etag"] : reply["last-modified"]
    return current == nil || current == validator
  }

  private static func validator(of reply: Reply) -> String? {
    if let tag = reply["etag"], tag.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") { return tag }
    // A date has seconds only: a file that changed in the second of the reply may change again under the same date.
    guard let changed = reply["last-modified"], let sent = reply["date"] else { return nil }
    let changedAt = curl_getdate(changed, nil)
    return changedAt >= 0 && changedAt < curl_getdate(sent, nil) ? changed : nil
  }
}
