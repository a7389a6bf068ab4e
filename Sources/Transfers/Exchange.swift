import CCurl
import Foundation

/// What an exchange tells its owner, on the transfer thread.
protocol ExchangeDelegate: AnyObject {
  /// The header of the final reply is complete.
  func exchange(_ exchange: Exchange, received reply: Reply) -> Exchange.BodyPolicy
  /// Only under `.deliver`; false ends the exchange.
  func exchange(_ exchange: Exchange, received bytes: UnsafeRawBufferPointer) -> Bool
  /// Said once, last, unless the exchange was cancelled. Under `.sample` there is never an error.
  func exchange(_ exchange: Exchange, endedWith error: TransferError?)
}

/// One request and its reply; redirects are the owner's business.
final class Exchange {
  enum BodyPolicy {
    case deliver
    /// The body is only worth a line of the log: its first bytes are kept, and neither a long nor a slow rest is waited for.
    case sample
  }

  private static let bufferSize = 512 << 10
  private static let sampleSize = 1 << 10
  /// A short rest is read to the end, so that the connection can be used again.
  private static let drainLimit = 64 << 10
  private static let drainTime = Duration.seconds(2)
  private static let connectTimeout = 30

  let easy: UnsafeMutableRawPointer
  private let thread: TransferThread
  private var delegate: (any ExchangeDelegate)?
  private let body: UploadFile?
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private let errorText: UnsafeMutablePointer<CChar>
  private let excess: UnsafeMutablePointer<Bool>

  /// The reply so far; its header is complete once `policy` is set.
  private(set) var reply: Reply?
  private var policy: BodyPolicy?
  private var sample: [UInt8] = []
  private var drained = 0

  /// With `asksFirst`, a server is asked whether it wants a large body; libcurl's limit is 1 MiB.
  init(
    url: URL, method: String = "GET", headers: [(name: String, value: String)], body: UploadFile? = nil,
    asksFirst: Bool = true, on thread: TransferThread, delegate: any ExchangeDelegate
  ) {
    guard let easy = curl_easy_init() else { fatalError("libcurl cannot make a handle: out of memory") }
    self.easy = easy
    self.thread = thread
    self.delegate = delegate
    self.body = body
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    excess = .allocate(capacity: 1)
    excess.initialize(to: false)
    setTransport(url)
    setHeaders(headers, asksFirst: asksFirst)
    setCallbacks()
    if let body {
      ccurl_set_long(easy, CURLOPT_UPLOAD, 1)
      ccurl_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(body.size))
      ccurl_set_long(easy, CURLOPT_UPLOAD_BUFFERSIZE, Self.bufferSize)
    }
    if method != "GET" || body != nil { ccurl_set_string(easy, CURLOPT_CUSTOMREQUEST, method) }
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_slist_free_all(headerList)
    errorText.deallocate()
    excess.deallocate()
  }

  func start() { thread.add(self) }

  /// The first line of the sample, unless it is markup or nothing.
  var sampleText: String? {
    let lines = String(decoding: sample, as: UTF8.self).split(whereSeparator: \.isNewline)
    guard let line = lines.first(where: { $0.contains { !$0.isWhitespace } }), !line.contains("<") else { return nil }
    return String(line.prefix(200))
  }

  /// Nothing more is said to the delegate.
  func cancel() {
    delegate = nil
    thread.remove(self)
  }

  /// Goes on after the body's `isPaused` has been cleared.
  func unpause() { curl_easy_pause(easy, 0) }

  private func setTransport(_ url: URL) {
    ccurl_set_string(easy, CURLOPT_URL, url.absoluteString)
    ccurl_allow_only_http(easy)
    ccurl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
    ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT, Self.connectTimeout)
    // A peer that vanished is noticed without a limit on how slow a living one may be.
    ccurl_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
    ccurl_set_long(easy, CURLOPT_TCP_KEEPIDLE, 60)
    ccurl_set_long(easy, CURLOPT_TCP_KEEPINTVL, 15)
    ccurl_set_long(easy, CURLOPT_BUFFERSIZE, Self.bufferSize)
    ccurl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    ccurl_set_close_on_exec(easy)
    ccurl_watch_for_excess(easy, excess)
  }

  private func setHeaders(_ headers: [(name: String, value: String)], asksFirst: Bool) {
    ccurl_set_string(easy, CURLOPT_USERAGENT, "opdash")
    for (name, value) in headers {
      // A semicolon is libcurl's sign for a header without a value; a colon would remove it.
      headerList = curl_slist_append(headerList, value.isEmpty ? "\(name);" : "\(name): \(value)")
    }
    if !asksFirst { headerList = curl_slist_append(headerList, "Expect:") }
    ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, headerList)
  }

  private func setCallbacks() {
    // The thread keeps an exchange for as long as libcurl may call it.
    let context = Unmanaged.passUnretained(self).toOpaque()
    ccurl_set_pointer(easy, CURLOPT_HEADERDATA, context)
    ccurl_set_data_callback(easy, CURLOPT_HEADERFUNCTION) { data, size, count, context in
      guard let data, let context else { return 0 }
      let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
      exchange.take(headerLine: UnsafeRawBufferPointer(start: data, count: size * count))
      return size * count
    }
    ccurl_set_pointer(easy, CURLOPT_WRITEDATA, context)
    ccurl_set_data_callback(easy, CURLOPT_WRITEFUNCTION) { data, size, count, context in
      guard let data, let context else { return 0 }
      let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
      return exchange.take(body: UnsafeRawBufferPointer(start: data, count: size * count)) ? size * count : 0
    }
    guard body != nil else { return }
    ccurl_set_pointer(easy, CURLOPT_READDATA, context)
    ccurl_set_data_callback(easy, CURLOPT_READFUNCTION) { data, size, count, context in
      guard let data, let context else { return Int(CURL_READFUNC_ABORT) }
      let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
      return exchange.give(UnsafeMutableRawBufferPointer(start: data, count: size * count))
    }
    ccurl_set_pointer(easy, CURLOPT_SEEKDATA, context)
    ccurl_set_seek_callback(easy) { context, offset, origin in
      guard let context, origin == SEEK_SET else { return Int32(CURL_SEEKFUNC_CANTSEEK) }
      Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue().body?.rewind(to: Int64(offset))
      return Int32(CURL_SEEKFUNC_OK)
    }
  }

  private func take(headerLine bytes: UnsafeRawBufferPointer) {
    var line = String(decoding: bytes, as: UTF8.self)
    while line.last?.isNewline == true { line.removeLast() }
    if let next = Reply(statusLine: line) {
      // libcurl may ask again by itself, as some versions do after a 417: what counts is the last reply.
      reply = next
      policy = nil
      sample = []
      drained = 0
    } else if policy != nil {
      // Fields after the body are of no use here.
    } else if !line.isEmpty {
      reply?.add(line: line)
    } else if let reply, reply.status >= 200 {
      let policy = delegate?.exchange(self, received: reply) ?? .sample
      self.policy = policy
      if policy == .sample { limitDraining() }
    }
  }

  private func take(body bytes: UnsafeRawBufferPointer) -> Bool {
    switch policy {
    case .deliver: return delegate?.exchange(self, received: bytes) ?? false
    case .sample:
      sample += bytes.prefix(Self.sampleSize - sample.count)
      drained += bytes.count
      return drained <= Self.drainLimit
    case nil: return false
    }
  }

  private func give(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    switch body?.read(into: buffer) {
    case .bytes(let count): count
    case .paused: Int(CURL_READFUNC_PAUSE)
    case .failed, nil: Int(CURL_READFUNC_ABORT)
    }
  }

  private func limitDraining() {
    let reply = reply
    thread.after(Self.drainTime) { [weak self] in
      guard let self, let delegate = self.delegate, self.policy != nil, self.reply == reply else { return }
      self.cancel()
      delegate.exchange(self, endedWith: nil)
    }
  }

  /// libcurl has finished with the handle.
  func end(_ result: CURLcode) {
    guard let delegate else { return }
    self.delegate = nil
    delegate.exchange(self, endedWith: failure(result))
  }

  private func failure(_ result: CURLcode) -> TransferError? {
    if policy == .sample { return nil }
    let text = String(cString: errorText)
    if let failure = CurlFailure(
      result, text: text, systemError: Int32(ccurl_get_long(easy, CURLINFO_OS_ERRNO))
    ).error(afterHeader: policy != nil) {
      return failure
    }
    // To libcurl a reply that ends in its header is a success, and so is one with bytes to spare.
    guard policy != nil else { return TransferError(.network, "the reply ended in its header") }
    return excess.pointee ? .tooLong : nil
  }
}
