import Foundation
import Operations

/// An operation that asks for a URL by GET, without a proxy, and ends with the status of the answer; redirects are answers.
///
/// A status of 400 and more is a failure. It ends with the header: of the body, however long or slow it is, nothing is kept.
package final class StatusOperation: TransferOperation<Int>, @unchecked Sendable {
  package init(of url: some URLText, thread: TransferThread = .shared) {
    super.init(url, headers: [:], reserved: [], thread: thread)
  }

  override func proceed() throws(TransferError) {
    guard exchange == nil else { return }
    var route = try firstRoute()
    route.usesProxies = false
    try send(Exchange(route, on: thread, delegate: self))
  }

  private func end(with reply: Reply) {
    end(reply.status < 400 ? .success(reply.status) : .failure(TransferError.http(reply)))
  }
}

extension StatusOperation: ExchangeDelegate {
  func exchange(_ exchange: Exchange, received reply: Reply) -> Exchange.BodyPolicy {
    // Not here: libcurl does not let go of a request that it is calling from.
    thread.async { self.end(with: reply) }
    return .sample
  }

  func exchange(_ exchange: Exchange, endedWith error: TransferError?) {
    if let reply = exchange.reply, error == nil { return end(with: reply) }
    end(.failure(error ?? TransferError(.network, "no reply")))
  }
}
