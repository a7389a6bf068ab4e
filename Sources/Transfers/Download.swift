import Foundation

/// One download from request to renamed file, with its pauses; all of it happens on the transfer thread.
final class Download: @unchecked Sendable {
  // Safe: every method is called on the transfer thread.

  struct Order: Sendable {
    var url: URL
    var file: URL
    var headers: [String: String]
    var sha256: String?
    var canResume: Bool
  }

  private enum Phase {
    case idle
    case requesting(Request)
    case verifying(PartFile, FileDigest)
    /// With `isWhole`, only the check of the bytes is left.
    case paused(isWhole: Bool)
    case ended
  }

  private final class Request {
    let part: PartFile
    let range: RangeRequest
    var route: Route
    var exchange: Exchange?
    var verdict: RangeRequest.Verdict?
    var total: Int64?
    var failure: TransferError?

    init(part: PartFile, range: RangeRequest, route: Route) {
      self.part = part
      self.range = range
      self.route = route
    }
  }

  private static let reserved: Set<String> = ["range", "if-range", "content-length", "transfer-encoding"]

  private let order: Order
  private let thread: TransferThread
  private var listener: TransferListener<URL>?
  private lazy var gate = ProgressGate(on: thread) { [unowned self] in listener?.progress($0) }
  private var phase = Phase.idle
  private var isHeld = false

  init(_ order: Order, on thread: TransferThread) {
    self.order = order
    self.thread = thread
  }

  func start(_ listener: TransferListener<URL>) {
    guard case .idle = phase else { return }
    self.listener = listener
    phase = .paused(isWhole: false)
    if !isHeld { goOn() }
  }

  func pause() {
    isHeld = true
    switch phase {
    case .idle, .paused, .ended: break
    case .requesting(let request):
      request.exchange?.cancel()
      gate.flush()
      request.part.close(keeping: order.canResume)
      phase = .paused(isWhole: false)
    case .verifying(let part, let digest):
      digest.giveUp()
      part.close(keeping: true)
      phase = .paused(isWhole: true)
    }
  }

  func resume() {
    isHeld = false
    goOn()
  }

  func cancel() {
    switch phase {
    case .idle, .ended, .paused(isWhole: false): break
    case .paused(isWhole: true): if !order.canResume { try? PartFile(for: order.file).close(keeping: false) }
    case .requesting(let request):
      request.exchange?.cancel()
      gate.flush()
      request.part.close(keeping: order.canResume)
    case .verifying(let part, let digest):
      digest.giveUp()
      part.close(keeping: order.canResume)
    }
    end(.failure(CancellationError()))
  }

  private func goOn() {
    guard case .paused(let isWhole) = phase else { return }
    do throws(TransferError) {
      if let digest = order.sha256, !FileDigest.isDigest(digest) {
        throw TransferError(.checksum, "not a sha256 of 64 hexadecimal digits: \(digest)")
      }
      let route = try Route(to: order.url, headers: order.headers, reserved: Self.reserved)
      let part = try PartFile(for: order.file)
      if isWhole {
        verify(part)
      } else {
        request(rangeRequest(for: part), route, part)
      }
    } catch {
      end(.failure(error))
    }
  }

  private func rangeRequest(for part: PartFile) -> RangeRequest {
    guard order.canResume else { return RangeRequest() }
    return RangeRequest(size: part.size, info: part.info, url: infoURL)
  }

  /// What the part's info is kept under: the person's URL without a name and password in it.
  private var infoURL: String { Route.shown(order.url) }

  private func request(_ range: RangeRequest, _ route: Route, _ part: PartFile) {
    let request = Request(part: part, range: range, route: route)
    let exchange = Exchange(url: route.url, headers: route.headers + range.headers, on: thread, delegate: self)
    request.exchange = exchange
    phase = .requesting(request)
    exchange.start()
  }

  private func complete(_ request: Request) {
    let done = request.part.offset
    gate.report(TransferProgress(done: done, total: done))
    verify(request.part)
  }

  private func verify(_ part: PartFile) {
    guard let expected = order.sha256?.lowercased() else {
      commit(part)
      return
    }
    let digest = FileDigest.start(part.path) { [thread] digest, result in
      thread.async { self.verified(digest, result, expected) }
    }
    phase = .verifying(part, digest)
  }

  private func verified(_ digest: FileDigest, _ result: Result<String, TransferError>, _ expected: String) {
    guard case .verifying(let part, let current) = phase, current === digest else { return }
    switch result {
    case .failure(let error): fail(part, error)
    case .success(expected): commit(part)
    case .success(let actual):
      listener?.note("sha256 is \(actual), expected \(expected)")
      // Going on with wrong bytes would never make them right.
      part.close(keeping: false)
      end(.failure(TransferError(.checksum, "sha256 is \(actual.prefix(12))…, expected \(expected.prefix(12))…")))
    }
  }

  private func commit(_ part: PartFile) {
    do throws(TransferError) {
      try part.commit()
      end(.success(order.file))
    } catch {
      fail(part, error)
    }
  }

  private func fail(_ part: PartFile, _ error: TransferError) {
    part.close(keeping: order.canResume)
    end(.failure(error))
  }

  private func end(_ result: Result<URL, any Error>) {
    if case .ended = phase { return }
    phase = .ended
    gate.flush()
    listener?.end(result)
    listener = nil
  }
}

extension Download: ExchangeDelegate {
  func exchange(_ exchange: Exchange, received reply: Reply) -> Exchange.BodyPolicy {
    guard case .requesting(let request) = phase else { return .sample }
    let verdict = request.range.judge(reply)
    request.verdict = verdict
    listener?.note(note(on: reply, verdict, request))
    do throws(TransferError) {
      switch verdict {
      case .redirect, .again, .failure: return .sample
      case .whole(let total, let note):
        if let note { listener?.note(note) }
        request.total = total
        try request.part.startAgain()
        if order.canResume, let info = PartInfo(url: infoURL, reply: reply) { try request.part.save(info) }
      case .rest(let total):
        request.total = total
        request.part.seek(to: request.range.start)
      }
      gate.report(TransferProgress(done: request.part.offset, total: request.total))
      return .deliver
    } catch {
      request.failure = error
      return .sample
    }
  }

  func exchange(_ exchange: Exchange, received bytes: UnsafeRawBufferPointer) -> Bool {
    guard case .requesting(let request) = phase else { return false }
    do throws(TransferError) {
      if let total = request.total, request.part.offset + Int64(bytes.count) > total { throw .tooLong }
      try request.part.write(bytes)
      gate.report(TransferProgress(done: request.part.offset, total: request.total))
      return true
    } catch {
      request.failure = error
      return false
    }
  }

  func exchange(_ exchange: Exchange, endedWith error: TransferError?) {
    guard case .requesting(let request) = phase else { return }
    do throws(TransferError) {
      if let failure = request.failure { throw failure }
      switch request.verdict {
      case nil: throw error ?? TransferError(.network, "no reply")
      case .failure(let failure):
        if let words = exchange.sampleText { listener?.note("the server says: \(words)") }
        throw failure
      case .redirect(let location):
        listener?.note(try request.route.follow(location))
        self.request(request.range, request.route, request.part)
      case .again(let why):
        listener?.note(why)
        try request.part.startAgain()
        self.request(RangeRequest(), try firstRoute(), request.part)
      case .whole, .rest:
        let done = request.part.offset
        if let total = request.total, done < total, error != .tooLong { throw .ended(after: done, of: total) }
        if let error { throw error }
        complete(request)
      }
    } catch {
      // What came from a server that contradicts itself is no beginning to go on from.
      if error == .tooLong { try? request.part.startAgain() }
      fail(request.part, error)
    }
  }

  private func firstRoute() throws(TransferError) -> Route {
    try Route(to: order.url, headers: order.headers, reserved: Self.reserved)
  }

  /// As in `GET /sdk.tar.zst 206, from byte 1048576 of 2097152 (HTTP/1.1)`.
  private func note(on reply: Reply, _ verdict: RangeRequest.Verdict, _ request: Request) -> String {
    let size =
      switch verdict {
      case .whole(let total?, _): ", \(total) bytes"
      case .whole(nil, _): ", of unknown size"
      case .rest(let total?): ", from byte \(request.range.start) of \(total)"
      case .rest(nil): ", from byte \(request.range.start)"
      case .again, .redirect, .failure: ""
      }
    return reply.note(method: "GET", url: request.route.url, size: size)
  }
}
