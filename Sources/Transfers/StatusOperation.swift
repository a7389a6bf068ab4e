import Foundation
import Operations

/// An operation that asks for a URL by GET, without a proxy, and ends with the status of the answer; redirects are answers.
///
/// It ends with the header. Of the body, however long or slow it is, nothing is kept.
package final class StatusOperation: TransferOperation<Int>, @unchecked Sendable {
  package init(of url: URL, thread: TransferThread = .shared) {
    super.init(url, headers: [:], reserved: [], thread: thread)
  }

  override func proceed() throws(TransferError) {
    guard exchange == nil else { return }
    try send(Exchange(try firstRoute(), usesProxy: false, on: thread, delegate: self))
  }
}

extension StatusOperation: ExchangeDelegate {
  func exchange(_ exchange: Exchange, received reply: Reply) -> Exchange.BodyPolicy {
    // Not here: libcurl does not let go of a request that it is calling from.
    thread.async { self.end(.success(reply.status)) }
    return .sample
  }

  func exchange(_ exchange: Exchange, endedWith error: TransferError?) {
    if let reply = exchange.reply, error == nil { return end(.success(reply.status)) }
    end(.failure(error ?? TransferError(.network, "no reply")))
  }
}
