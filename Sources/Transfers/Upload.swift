import Foundation

/// One upload from first byte to final status, with its pauses; all of it happens on the transfer thread.
final class Upload: @unchecked Sendable {
  // Safe: every method is called on the transfer thread.

  struct Order: Sendable {
    /// Nil until it is known.
    var file: URL?
    var url: URL
    var method: String
    var headers: [String: String]
  }

  private enum Phase {
    case idle
    /// Paused before it began.
    case held
    case sending(Request)
    case ended
  }

  private final class Request {
    var route: Route
    var method: String
    /// Nil for the request that fetches the answer after a 303.
    let file: UploadFile?
    let asksFirst: Bool
    var exchange: Exchange?
    var reply: Reply?

    init(route: Route, method: String, file: UploadFile?, asksFirst: Bool) {
      self.route = route
      self.method = method
      self.file = file
      self.asksFirst = asksFirst
    }
  }

  private static let reserved: Set<String> = ["content-length", "transfer-encoding", "content-range"]

  private var order: Order
  private let thread: TransferThread
  private var listener: TransferListener<Int>?
  private lazy var gate = ProgressGate(on: thread) { [unowned self] in listener?.progress($0) }
  private var phase = Phase.idle
  private var isHeld = false

  init(_ order: Order, on thread: TransferThread) {
    self.order = order
    self.thread = thread
  }

  /// Before the start.
  func take(_ file: URL) { order.file = file }

  func start(_ listener: TransferListener<Int>) {
    guard case .idle = phase else { return }
    self.listener = listener
    phase = .held
    if !isHeld { begin() }
  }

  func pause() {
    isHeld = true
    guard case .sending(let request) = phase else { return }
    request.file?.isPaused = true
    gate.flush()
  }

  func resume() {
    isHeld = false
    switch phase {
    case .idle, .ended: break
    case .held: begin()
    case .sending(let request):
      request.file?.isPaused = false
      request.exchange?.unpause()
    }
  }

  func cancel() {
    if case .sending(let request) = phase { request.exchange?.cancel() }
    end(.failure(CancellationError()))
  }

  private func begin() {
    do throws(TransferError) {
      let route = try Route(to: order.url, headers: order.headers, reserved: Self.reserved)
      guard Route.isToken(order.method) else {
        throw TransferError(.invalidHeader, "not a method: \(order.method.debugDescription)")
      }
      let file = try openFile()
      gate.report(TransferProgress(done: 0, total: file.size))
      send(route, method: order.method, file)
    } catch {
      end(.failure(error))
    }
  }

  private func openFile() throws(TransferError) -> UploadFile {
    guard let file = order.file else { throw TransferError(.file, "no file was given to upload") }
    return try UploadFile(file) { [unowned self] offset in
      guard case .sending(let request) = phase, let size = request.file?.size else { return }
      gate.report(TransferProgress(done: offset, total: size))
    }
  }

  private func send(_ route: Route, method: String, _ file: UploadFile?, asksFirst: Bool = true) {
    file?.isPaused = isHeld
    file?.rewind(to: 0)
    let request = Request(route: route, method: method, file: file, asksFirst: asksFirst)
    let exchange = Exchange(
      url: route.url, method: method, headers: route.headers, body: file, asksFirst: asksFirst, on: thread,
      delegate: self)
    request.exchange = exchange
    phase = .sending(request)
    exchange.start()
  }

  private func end(_ result: Result<Int, any Error>) {
    if case .ended = phase { return }
    phase = .ended
    gate.flush()
    listener?.end(result)
    listener = nil
  }
}

extension Upload: ExchangeDelegate {
  func exchange(_ exchange: Exchange, received reply: Reply) -> Exchange.BodyPolicy {
    guard case .sending(let request) = phase else { return .sample }
    request.reply = reply
    listener?.note(reply.note(method: request.method, url: request.route.url))
    // A server may approve before it has read everything; it must get the rest, however long that takes.
    return (200..<300).contains(reply.status) ? .deliver : .sample
  }

  func exchange(_ exchange: Exchange, received bytes: UnsafeRawBufferPointer) -> Bool { true }

  func exchange(_ exchange: Exchange, endedWith error: TransferError?) {
    guard case .sending(let request) = phase else { return }
    do throws(TransferError) {
      if let failure = request.file?.failure { throw failure }
      if let error { throw error }
      guard let reply = request.reply else { throw TransferError(.network, "no reply") }
      switch reply.status {
      case 200..<300: try succeed(request, reply)
      case 301, 302, 303, 307, 308: try follow(request, reply)
      case 417 where request.asksFirst && request.file != nil:
        send(request.route, method: request.method, request.file, asksFirst: false)
      default:
        if let words = exchange.sampleText { listener?.note("the server says: \(words)") }
        throw .http(reply.status)
      }
    } catch {
      end(.failure(error))
    }
  }

  private func succeed(_ request: Request, _ reply: Reply) throws(TransferError) {
    if let file = request.file {
      guard file.offset == file.size else { throw .ended(after: file.offset, of: file.size) }
      try file.checkUnchanged()
    }
    end(.success(reply.status))
  }

  /// The file goes to the new place, unless the server says that it has it and the answer is elsewhere.
  private func follow(_ request: Request, _ reply: Reply) throws(TransferError) {
    guard let location = reply["location"] else { throw .http(reply.status) }
    var route = request.route
    listener?.note(try route.follow(location))
    let isAnswer = reply.status == 303 || (request.method == "POST" && reply.status < 303)
    guard let file = request.file, !isAnswer else {
      send(route, method: "GET", nil)
      return
    }
    send(route, method: request.method, file)
  }
}
