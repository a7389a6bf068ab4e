/// The request of a download, for the whole file or for the rest of a part, and the meaning of its reply.
struct RangeRequest {
  enum Verdict: Equatable {
    /// The body is the whole file.
    case whole(total: Int64?, note: String?)
    /// The body continues the part and ends before byte `end` of the file's `total`.
    case rest(end: Int64, total: Int64)
    /// The part can't be resumed, for this reason: request the whole file.
    case again(String)
    case redirect(String)
    case failure(TransferError)

    /// The size of the file, where the server says it.
    var total: Int64? {
      switch self {
      case .whole(let total, _): total
      case .rest(_, let total): total
      case .again, .redirect, .failure: nil
      }
    }

    /// The position after the last byte of the body, where the server says it.
    var end: Int64? {
      if case .rest(let end, _) = self { return end }
      return total
    }

    /// For a note, as in `, from byte 1048576 of 2097152`.
    func size(from start: Int64) -> String {
      switch self {
      case .whole(let total, _): total.map { ", \($0) bytes" } ?? ", of unknown size"
      case .rest(_, let total): ", from byte \(start) of \(total)"
      case .again, .redirect, .failure: ""
      }
    }
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

  /// For the bytes that a part of `size` bytes lacks, or for the whole file if the part can't be resumed.
  init(size: Int64, info: PartInfo?, url: String) {
    guard size > 0, let info, info.url == url, info.total.map({ size <= $0 }) ?? true else {
      self.init()
      return
    }
    // For a complete part the last byte is requested again: the reply proves that the file is still the same.
    let start = info.total.map { min(size, $0 - 1) } ?? size
    self.init(start: start, info: start > 0 ? info : nil)
  }

  var headers: [(name: String, value: String)] {
    guard let info else { return [] }
    return [("If-Range", info.validator), ("Range", "bytes=\(start)-")]
  }

  func judge(_ reply: Reply) -> Verdict {
    switch reply.status {
    case 200, 203: judgeWhole(reply)
    case 206: judgePart(reply)
    case _ where reply.isRedirect: reply["location"].map { .redirect($0) } ?? .failure(.http(reply))
    case 416 where info != nil: .again("the server has nothing after byte \(start): starting again")
    case let status where info != nil && Self.refusesRange(status):
      .again("the server answers HTTP \(status) to the range: starting again")
    case 200..<300: .failure(.noFile(reply.status))
    default: .failure(.http(reply))
    }
  }

  /// Whether the request is for the rest of a part.
  var asksForRest: Bool { info != nil }

  /// Whether a reply without a file is due to the range and not to a temporary state of the server.
  private static func refusesRange(_ status: Int) -> Bool {
    switch status {
    case 408, 425, 429, 300..<304, 305..<400: false
    case 501, 505: true
    default: status < 500
    }
  }

  private func judgeWhole(_ reply: Reply) -> Verdict {
    guard reply.hasValidLength else { return .failure(.invalidLength(of: reply)) }
    guard let field = reply["content-range"] else { return judgeWhole(reply, total: reply.contentLength) }
    // The field has no meaning with this status, but servers that send a piece name its range here.
    guard let range = reply.contentRange, range.start == 0, let total = range.total, range.end == total - 1,
      reply.contentLength ?? total == total
    else {
      let piece = "the server sent a piece of the file as the whole: \(field.prefix(60))"
      return info == nil ? .failure(TransferError(.network, piece)) : .again("\(piece): starting again")
    }
    return judgeWhole(reply, total: total)
  }

  /// The body may be the rest that was asked for, unless it is as long as the part's file.
  private func judgeWhole(_ reply: Reply, total: Int64?) -> Verdict {
    guard let info else { return .whole(total: total, note: nil) }
    guard info.agrees(with: reply) else { return .again(Self.changed) }
    guard total != nil, total == info.total else {
      return .again("the server doesn't say whether this is the whole file: starting again")
    }
    return .whole(total: total, note: "the server ignored the range: starting again")
  }

  private func judgePart(_ reply: Reply) -> Verdict {
    guard let info else { return .failure(TransferError(.network, "HTTP 206 to a request for the whole file")) }
    guard let range = reply.contentRange, range.start == start else {
      return .again("the server sent another range than asked for: starting again")
    }
    if let total = range.total, let known = info.total, total != known { return .again(Self.changed) }
    guard info.coding == reply.coding else {
      return .again("the server encodes the file in another way: starting again")
    }
    guard info.agrees(with: reply) else { return .again(Self.changed) }
    // A connection that breaks at the end of this body would look like the end of the file.
    guard let total = range.total ?? info.total else {
      return .again("the server doesn't say where the file ends: starting again")
    }
    let isRange = reply.hasValidLength && reply.contentLength.map { $0 - 1 == range.end - range.start } ?? true
    guard range.end < total, isRange else {
      return .again("the server sent another range than it said: starting again")
    }
    return .rest(end: range.end + 1, total: total)
  }

  private static let changed = "the file changed on the server: starting again"
}
