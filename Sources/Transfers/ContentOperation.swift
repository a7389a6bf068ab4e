import Operations

/// An operation that downloads the content of a URL into memory, up to a limit.
///
/// A pause drops the bytes so far, and resuming requests them again. Redirects are followed as for a download.
package final class ContentOperation: TransferOperation<[UInt8]>, @unchecked Sendable {
  // Safe: used on the transfer thread only.
  private let limit: Int
  private var content: [UInt8] = []
  /// The meaning of the reply to the request under way.
  private var verdict: RangeRequest.Verdict?

  /// More than `limit` bytes are an error.
  package init(of url: some URLText, limit: Int, thread: TransferThread = .shared) {
    self.limit = limit
    super.init(url, headers: [:], reserved: [], thread: thread)
  }

  override func proceed() throws(TransferError) {
    guard exchange == nil else { return }
    try request(firstRoute())
  }

  override func hold() { cancelExchange() }

  private func request(_ route: Route) throws(TransferError) {
    (content, verdict) = ([], nil)
    try send(Exchange(route, on: thread, delegate: self))
  }

  private func checkSize(_ size: Int64) throws(TransferError) {
    guard size > limit else { return }
    throw TransferError(.file, "it is larger than \(limit >> 20) MiB")
  }
}

extension ContentOperation: ExchangeDelegate {
  func exchange(_ exchange: Exchange, received reply: Reply) throws(TransferError) -> Exchange.BodyPolicy {
    note(reply.note(method: exchange.method, url: exchange.route.url))
    let verdict = RangeRequest().judge(reply)
    self.verdict = verdict
    guard case .whole(let total, _) = verdict else { return .sample }
    if let coding = reply.coding { throw TransferError(.network, "the server has encoded it: \(coding)") }
    try checkSize(total ?? 0)
    report(0, of: total)
    return .deliver
  }

  func exchange(_ exchange: Exchange, received bytes: UnsafeRawBufferPointer) throws(TransferError) {
    content += bytes
    let size = Int64(content.count)
    try checkSize(size)
    report(size, of: verdict?.total)
  }

  func exchange(_ exchange: Exchange, endedWith error: TransferError?) {
    do throws(TransferError) {
      if let failure = exchange.failure { throw failure }
      switch verdict {
      case .whole(let total, _):
        let size = Int64(content.count)
        if let total, size < total { throw .ended(after: size, of: total) }
        if let error { throw error }
        end(.success(content))
      case .redirect(let location):
        var route = exchange.route
        note(try route.follow(location))
        try request(route)
      case .failure(let failure):
        noteSample(of: exchange)
        throw failure
      case .rest, .again, nil: throw error ?? TransferError(.network, "no reply")
      }
    } catch {
      end(.failure(error))
    }
  }
}
