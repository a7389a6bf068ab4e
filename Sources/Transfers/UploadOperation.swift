import Foundation
import Operations

/// An operation that uploads a file to a URL.
///
/// The file is read as the connection takes its bytes, and its length is sent first; a file that changes meanwhile is an
/// error. Above 1 MiB the server is first asked whether it wants the body (`Expect: 100-continue`, for at most a second).
/// Follows at most ten redirects, to http and https only, and sends the file again. After a 303, or a 301 or 302 to a POST
/// that names another path, it fetches the answer instead, and fails if the connection had not taken the whole file by then.
/// A redirect to another host, scheme or port drops the name and password of the URL and all headers but `Accept`,
/// `Accept-Language`, `Cache-Control` and `User-Agent`.
///
/// Connecting may take 30 seconds, and `stallTimeout` limits the silence after that. The whole transfer has no limit.
///
/// The result is the status of a 2xx reply to the whole file; reading the reply's body ends after 64 KiB or two seconds. It
/// fails with a `TransferError` or, if cancelled, with a `CancellationError`. All work is done on one thread that all
/// transfers share.
public final class UploadOperation: TransferOperation<Int>, InputReceiving, @unchecked Sendable {
  // Safe: used on the transfer thread only.
  private var file: URL?
  private let content: [UInt8]?
  private let method: String

  /// Makes an upload of a regular file.
  ///
  /// - Parameters:
  ///   - file: A regular file.
  ///   - url: http or https.
  ///   - method: Any that has a body, usually PUT or POST.
  ///   - headers: Added to the request; headers that frame the body are errors.
  public convenience init(_ file: URL, to url: URL, method: String = "PUT", headers: [String: String] = [:]) {
    self.init(file, to: url, method: method, headers: headers, thread: .shared)
  }

  /// Makes an upload of a file that another operation produces: `upload.takeInput(from: download)`.
  public convenience init(to url: URL, method: String = "PUT", headers: [String: String] = [:]) {
    self.init(nil, to: url, method: method, headers: headers, thread: .shared)
  }

  /// Makes an upload of a file, or of bytes in memory, for which an answer that must be fetched from elsewhere is an
  /// error.
  package init(
    _ file: URL? = nil, content: [UInt8]? = nil, to url: some URLText, method: String = "PUT",
    headers: [String: String] = [:], thread: TransferThread
  ) {
    self.file = file
    self.content = content
    self.method = method
    super.init(
      url, headers: headers, reserved: ["content-length", "transfer-encoding", "content-range"], thread: thread)
  }

  /// Sets the file to upload in the place of any other; called before `main` if the upload receives it.
  public func receive(_ file: URL) { thread.async { self.file = file } }

  override func proceed() throws(TransferError) {
    if let exchange {
      exchange.body?.isPaused = false
      exchange.resume()
      return
    }
    let route = try firstRoute()
    guard Route.isToken(method) else {
      throw TransferError(.invalidHeader, "not a method: \(method.debugDescription)")
    }
    let body = try body()
    report(0, of: body.size)
    // Bytes in memory are few: to ask whether the server wants them takes longer than to send them.
    try send(route, method, body, asksFirst: content == nil)
  }

  private func body() throws(TransferError) -> UploadFile {
    if let content { return UploadFile(content: content) }
    guard let file else { throw TransferError(.file, "no file was given to upload") }
    return try UploadFile(file)
  }

  override func hold() { exchange?.body?.isPaused = true }

  private func send(
    _ route: Route, _ method: String, _ body: UploadFile?, asksFirst: Bool = true
  ) throws(TransferError) {
    body?.isPaused = isPaused
    body?.rewind(to: 0)
    try send(Exchange(route, method: method, body: body, asksFirst: asksFirst, on: thread, delegate: self))
  }
}

extension UploadOperation: ExchangeDelegate {
  func exchange(_ exchange: Exchange, received reply: Reply) -> Exchange.BodyPolicy {
    note(reply.note(method: exchange.method, url: exchange.route.url))
    // A server may approve before it has read the whole file; the rest must still be sent, however long that takes.
    return (200..<300).contains(reply.status) ? .acknowledge : .sample
  }

  func exchange(_ exchange: Exchange, sent count: Int64, of size: Int64) { report(count, of: size) }

  func exchange(_ exchange: Exchange, endedWith error: TransferError?) {
    do throws(TransferError) {
      if let error { throw error }
      guard let reply = exchange.reply else { throw TransferError(.network, "no reply") }
      switch reply.status {
      case 200..<300:
        try checkSent(exchange)
        end(.success(reply.status))
      case _ where reply.isRedirect: try follow(exchange, reply)
      case 417 where exchange.asksFirst:
        try send(exchange.route, exchange.method, exchange.body, asksFirst: false)
      default:
        noteSample(of: exchange)
        let error = TransferError.http(reply)
        note(retryAfter: error)
        throw error
      }
    } catch {
      end(.failure(error))
    }
  }

  /// Throws unless the server has been given the whole file, as it is now.
  private func checkSent(_ exchange: Exchange) throws(TransferError) {
    guard let body = exchange.body else { return }
    guard exchange.hasSentBody else { throw .ended(after: min(body.offset, exchange.sentCount), of: body.size) }
    try body.checkUnchanged()
  }

  /// Sends the file to the redirect's target or, where the server has taken the file, fetches the answer from there.
  private func follow(_ exchange: Exchange, _ reply: Reply) throws(TransferError) {
    guard let location = reply["location"] else { throw .http(reply) }
    var route = exchange.route
    note(try route.follow(location))
    guard let body = exchange.body else { return try send(route, "GET", nil) }
    // Clients fetch the answer to a POST after 301 and 302. If only the server changes, the upload itself has moved.
    let hasMoved = exchange.route.url.target == route.url.target
    guard reply.status == 303 || (exchange.method == "POST" && reply.status < 303 && !hasMoved) else {
      return try send(route, exchange.method, body)
    }
    // Who sends these has no person who reads the log: the answer may be the form of a login.
    guard content == nil else { throw .http(reply) }
    guard exchange.hasSentBody else {
      throw .answeredElsewhere(reply, after: min(body.offset, exchange.sentCount), of: body.size)
    }
    try checkSent(exchange)
    try send(route, "GET", nil)
  }
}
