/// What a download asks for, the whole file or the rest of one, and what the reply to it means.
struct RangeRequest {
  enum Verdict: Equatable {
    /// The body is the file from byte 0 on.
    case whole(total: Int64?, note: String?)
    /// The body goes on where the part ends.
    case rest(total: Int64?)
    /// Nothing can be made of the part: ask for the whole file.
    case again(String)
    case redirect(String)
    case failure(TransferError)
  }

  /// 0 for the whole file.
  let start: Int64
  private let info: PartInfo?

  /// For the whole file.
  init() { self.init(start: 0, info: nil) }

  private init(start: Int64, info: PartInfo?) {
    self.start = start
    self.info = info
  }

  /// For what is missing of a part of `size` bytes.
  init(size: Int64, info: PartInfo?, url: String) {
    guard size > 0, let info, info.url == url, info.total.map({ size <= $0 }) ?? true else {
      self.init()
      return
    }
    // The last byte of a complete part is asked for again: the reply then proves that the file is still the same.
    let start = info.total.map { min(size, $0 - 1) } ?? size
    self.init(start: start, info: start > 0 ? info : nil)
  }

  var headers: [(name: String, value: String)] {
    guard let info else { return [] }
    return [("If-Range", info.validator), ("Range", "bytes=\(start)-")]
  }

  func judge(_ reply: Reply) -> Verdict {
    switch reply.status {
    case 206: judgePart(reply)
    case 200..<300: .whole(total: reply.contentLength, note: restartNote(reply))
    case 301, 302, 303, 307, 308:
      reply["location"].map { .redirect($0) } ?? .failure(.http(reply.status))
    case 416 where info != nil: .again("the server has nothing after byte \(start): starting again")
    default: .failure(.http(reply.status))
    }
  }

  private func judgePart(_ reply: Reply) -> Verdict {
    guard let info else { return .failure(TransferError(.network, "HTTP 206 to a request for the whole file")) }
    guard let range = reply["content-range"].flatMap({ ContentRange($0) }), range.start == start else {
      return .again("the server sent another range than asked for: starting again")
    }
    if let total = range.total, let known = info.total, total != known { return .again(Self.changed) }
    guard info.agrees(with: reply) else { return .again(Self.changed) }
    return .rest(total: range.total ?? info.total)
  }

  private func restartNote(_ reply: Reply) -> String? {
    guard let info else { return nil }
    let isSame = info.agrees(with: reply) && (info.total == nil || info.total == reply.contentLength)
    return isSame ? "the server ignored the range: starting again" : Self.changed
  }

  private static let changed = "the file changed on the server: starting again"
}
