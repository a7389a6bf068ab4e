import CCurl
import Foundation

/// The owner of an exchange, called on the transfer thread.
///
/// An error that it throws ends the exchange, which keeps it as its `failure`.
protocol ExchangeDelegate: AnyObject {
  /// The header of the final reply is complete.
  func exchange(_ exchange: Exchange, received reply: Reply) throws(TransferError) -> Exchange.BodyPolicy
  /// A piece of the body has arrived; called only under `.deliver`.
  func exchange(_ exchange: Exchange, received bytes: UnsafeRawBufferPointer) throws(TransferError)
  /// The connection has taken the first `count` of the `size` bytes of the request's body.
  func exchange(_ exchange: Exchange, sent count: Int64, of size: Int64)
  /// Called once, last, unless the exchange was cancelled; under `.sample` the error is nil or the `failure`.
  func exchange(_ exchange: Exchange, endedWith error: TransferError?)
}

extension ExchangeDelegate {
  func exchange(_ exchange: Exchange, received bytes: UnsafeRawBufferPointer) {}
  func exchange(_ exchange: Exchange, sent count: Int64, of size: Int64) {}
}

/// One request and its reply, used on the transfer thread only; redirects are left to the delegate.
final class Exchange {
  enum BodyPolicy {
    case deliver
    /// Drop it; once the request's body is sent, end the exchange after 64 KiB or two seconds.
    case acknowledge
    /// Keep the first bytes for a line of the log, and wait neither for a long rest nor for a slow one.
    case sample
  }

  private static let bufferSize = 512 << 10
  private static let sampleSize = 8 << 10
  private static let unaskedSize: Int64 = 1 << 20
  /// Looks at an exchange within its stall time.
  private static let looks = 4
  /// A shorter rest is read to its end, so that the connection can be reused.
  private static let drainLimit = 64 << 10
  private static let drainTime = Duration.seconds(2)
  private static let connectTimeout = 30
  private static let endedInHeader = TransferError(.network, "the reply ended in its header")

  let route: Route
  let method: String
  let body: UploadFile?
  let asksFirst: Bool
  /// How long no byte may move, not counted while its body is paused; nil for no limit.
  ///
  /// Set before the start.
  var stall: Duration?
  /// When the thread looks at whether bytes move.
  var nextLook: Duration?
  let easy: UnsafeMutableRawPointer
  private let thread: TransferThread
  private var delegate: (any ExchangeDelegate)?
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private let errorText: UnsafeMutableBufferPointer<CChar>
  private let excess: UnsafeMutablePointer<Bool>

  /// The reply so far; its header is complete once `policy` is set.
  private(set) var reply: Reply?
  private var policy: BodyPolicy?
  /// The error that a method of the delegate has thrown, or a failure to read the request's body.
  private(set) var failure: TransferError?
  private var sample: [UInt8] = []
  private var drained = 0
  private var trailerSize = 0
  /// Whether libcurl has read the whole reply.
  private var isWhole = false
  /// Whether reading has ended early under `.acknowledge`.
  private var isCutOff = false
  /// The bytes moved by the last look, and the number of looks in a row that found the same.
  private var silence = (moved: Int64(0), looks: 0)

  /// With `asksFirst` the server is asked whether it wants a body of more than 1 MiB.
  init(
    _ route: Route, method: String = "GET", headers: [(name: String, value: String)] = [], body: UploadFile? = nil,
    asksFirst: Bool = true, on thread: TransferThread, delegate: any ExchangeDelegate
  ) throws(TransferError) {
    guard let easy = curl_easy_init() else { throw .curl(CURLE_OUT_OF_MEMORY) }
    self.route = route
    self.method = method
    self.body = body
    self.asksFirst = asksFirst && body.map { $0.size > Self.unaskedSize } ?? false
    self.easy = easy
    self.thread = thread
    self.delegate = delegate
    // Allocated after the handle: if there is none, `deinit` is not called.
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0)
    excess = .allocate(capacity: 1)
    excess.initialize(to: false)
    try setTransport()
    try setCertificates()
    try setHeaders(route.headers + headers)
    setCallbacks()
    if let body {
      ccurl_set_long(easy, CURLOPT_UPLOAD, 1)
      ccurl_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(body.size))
      ccurl_set_long(easy, CURLOPT_UPLOAD_BUFFERSIZE, Self.bufferSize)
    }
    // A reply to HEAD has the length of a body, and no body.
    if method == "HEAD", body == nil { ccurl_set_long(easy, CURLOPT_NOBODY, 1) }
    if method != "GET" || body != nil { try set(CURLOPT_CUSTOMREQUEST, to: method) }
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_slist_free_all(headerList)
    errorText.deallocate()
    excess.deallocate()
  }

  func start() throws(TransferError) { try thread.add(self) }

  /// Ends the exchange without another call of the delegate.
  func cancel() {
    delegate = nil
    thread.remove(self)
  }

  /// Resumes after the body's `isPaused` has been cleared.
  func resume() { curl_easy_pause(easy, 0) }

  /// How many bytes of the request's body the connection has taken.
  var sentCount: Int64 { Int64(ccurl_get_offset(easy, CURLINFO_SIZE_UPLOAD_T)) }

  /// Whether the connection has taken the whole body of the request, or the request has none.
  var hasSentBody: Bool { body.map { $0.offset == $0.size && sentCount >= $0.size } ?? true }

  /// The first line of the body that is not blank, and whether the sample ends within it.
  ///
  /// Nil if there is none or it looks like markup.
  var sampleLine: (text: String, isCut: Bool)? {
    let text = String(decoding: sample, as: UTF8.self)
    let lines = text.split(whereSeparator: \.isNewline)
    guard let line = lines.first(where: { $0.contains { !$0.isWhitespace } }), !line.contains("<") else { return nil }
    let isCut = line.endIndex == text.endIndex && !(isWhole && drained == sample.count)
    // A letter of several bytes may be cut off too.
    return (isCut ? line.trimmingCharacters(in: ["\u{FFFD}"]) : String(line), isCut)
  }

  private func set(_ option: CURLoption, to text: String) throws(TransferError) {
    let result = ccurl_set_string(easy, option, text)
    guard result == CURLE_OK else { throw .curl(result) }
  }

  private func setTransport() throws(TransferError) {
    try set(CURLOPT_URL, to: route.url.text)
    if !route.usesProxies { try set(CURLOPT_NOPROXY, to: "*") }
    guard ccurl_allow_only_http(easy) == CURLE_OK else { throw .curl(CURLE_OUT_OF_MEMORY) }
    ccurl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
    ccurl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    ccurl_set_long(easy, CURLOPT_CONNECTTIMEOUT, Self.connectTimeout)
    // CURLOPT_QUICK_EXIT, from 7.87 on: without it, the end of an exchange waits for the thread that looks up its host.
    ccurl_set_long(easy, CURLoption(rawValue: 322), 1)
    // Detects a peer that is gone without a limit on how slow a living one may be.
    ccurl_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
    ccurl_set_long(easy, CURLOPT_TCP_KEEPIDLE, 60)
    ccurl_set_long(easy, CURLOPT_TCP_KEEPINTVL, 15)
    ccurl_set_long(easy, CURLOPT_BUFFERSIZE, Self.bufferSize)
    ccurl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText.baseAddress)
    ccurl_set_close_on_exec(easy)
    ccurl_watch_for_excess(easy, excess)
  }

  private func setCertificates() throws(TransferError) {
    if let file = thread.certificates.file { try set(CURLOPT_CAINFO, to: file) }
    // A libcurl that can't use a folder refuses the option; it then has the file alone.
    if let folder = thread.certificates.folder { ccurl_set_string(easy, CURLOPT_CAPATH, folder) }
  }

  private func setHeaders(_ headers: [(name: String, value: String)]) throws(TransferError) {
    try set(CURLOPT_USERAGENT, to: "opdash")
    // To libcurl a semicolon marks a header without a value, and a colon without one removes the header.
    var lines = headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    // Some versions of libcurl ask before any PUT, and wait a second for servers that don't answer that.
    if !asksFirst { lines.append("Expect:") }
    for line in lines {
      guard let list = curl_slist_append(headerList, line) else { throw .curl(CURLE_OUT_OF_MEMORY) }
      headerList = list
    }
    ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, headerList)
  }

  private func setCallbacks() {
    // Valid during every callback: the thread retains an exchange while libcurl has its handle.
    let context = Unmanaged.passUnretained(self).toOpaque()
    ccurl_set_pointer(easy, CURLOPT_HEADERDATA, context)
    ccurl_set_data_callback(easy, CURLOPT_HEADERFUNCTION) { data, size, count, context in
      guard let data, let context else { return 0 }
      return Exchange.of(context).take(headerLine: UnsafeRawBufferPointer(start: data, count: size * count))
    }
    ccurl_set_pointer(easy, CURLOPT_WRITEDATA, context)
    ccurl_set_data_callback(easy, CURLOPT_WRITEFUNCTION) { data, size, count, context in
      guard let data, let context else { return 0 }
      return Exchange.of(context).take(body: UnsafeRawBufferPointer(start: data, count: size * count))
    }
    guard body != nil else { return }
    ccurl_set_pointer(easy, CURLOPT_READDATA, context)
    ccurl_set_data_callback(easy, CURLOPT_READFUNCTION) { data, size, count, context in
      guard let data, let context else { return Int(CURL_READFUNC_ABORT) }
      return Exchange.of(context).give(UnsafeMutableRawBufferPointer(start: data, count: size * count))
    }
    ccurl_set_pointer(easy, CURLOPT_SEEKDATA, context)
    ccurl_set_seek_callback(easy) { context, offset, origin in
      guard let context, origin == SEEK_SET else { return Int32(CURL_SEEKFUNC_CANTSEEK) }
      Exchange.of(context).body?.rewind(to: Int64(offset))
      return Int32(CURL_SEEKFUNC_OK)
    }
  }

  private static func of(_ context: UnsafeMutableRawPointer) -> Exchange {
    Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
  }

  /// Returns how many bytes were taken; fewer than there are end the exchange.
  private func take(headerLine bytes: UnsafeRawBufferPointer) -> Int {
    var line = Self.text(of: bytes)
    while line.last?.isNewline == true { line.removeLast() }
    if let next = Reply(statusLine: line) {
      // libcurl may repeat a request by itself, as some versions do after a 417; the last reply counts.
      reply = next
      policy = nil
      sample = []
      drained = 0
    } else if let policy {
      // Of no use to any transfer, but libcurl keeps it in memory.
      trailerSize += bytes.count
      guard trailerSize > Self.drainLimit else { return bytes.count }
      isCutOff = policy == .acknowledge && hasSentBody
      if policy == .deliver { failure = TransferError(.network, "the reply's trailer is too long") }
      return 0
    } else if !line.isEmpty {
      reply?.add(line: line)
    } else if let reply, reply.status >= 200 || reply.status == 101 {
      // The other 1xx come before a final reply; no request asks for another protocol.
      // libcurl keeps a connection after a final reply to an Expect, and the server would read the next request as the body.
      if let body, body.offset < body.size { ccurl_set_long(easy, CURLOPT_FORBID_REUSE, 1) }
      do throws(TransferError) {
        policy = try delegate?.exchange(self, received: reply) ?? .sample
        if policy != .deliver { limitDraining() }
      } catch {
        failure = error
        return 0
      }
    }
    return bytes.count
  }

  /// A line of the header; a redirect's target in another encoding than UTF-8 keeps its bytes, as escapes.
  private static func text(of line: UnsafeRawBufferPointer) -> String {
    let text = String(decoding: line, as: UTF8.self)
    return text.lowercased().hasPrefix("location:") ? WireURL.text(of: line) : text
  }

  /// Returns how many bytes were taken; fewer than there are end the exchange.
  private func take(body bytes: UnsafeRawBufferPointer) -> Int {
    switch policy {
    case .deliver:
      do throws(TransferError) { try delegate?.exchange(self, received: bytes) } catch {
        failure = error
        return 0
      }
    case .acknowledge:
      drained += bytes.count
      if drained > Self.drainLimit, hasSentBody {
        isCutOff = true
        return 0
      }
    case .sample:
      sample += bytes.prefix(Self.sampleSize - sample.count)
      drained += bytes.count
      if drained > Self.drainLimit { return 0 }
    case nil: return 0
    }
    return bytes.count
  }

  private func give(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard let body else { return Int(CURL_READFUNC_ABORT) }
    do throws(TransferError) {
      guard let count = try body.read(into: buffer) else { return Int(CURL_READFUNC_PAUSE) }
      if count > 0 { delegate?.exchange(self, sent: body.offset, of: body.size) }
      return count
    } catch {
      failure = error
      return Int(CURL_READFUNC_ABORT)
    }
  }

  private func limitDraining() {
    let reply = reply
    thread.after(Self.drainTime) { [weak self] in
      guard let self, let delegate = self.delegate, self.policy != nil, self.reply == reply else { return }
      guard self.policy == .sample || self.hasSentBody else { return self.limitDraining() }
      self.cancel()
      delegate.exchange(self, endedWith: nil)
    }
  }

  /// The time between two checks that bytes move.
  var lookInterval: Duration? { stall.map { max(.milliseconds(1), $0 / Self.looks) } }

  /// Ends the exchange if this is the last of the looks in a row that have found no byte moved.
  ///
  /// Counts looks instead of time: while the process is stopped, no byte can move.
  func look() {
    let moved = moved
    let isQuiet = moved == silence.moved && body?.isPaused != true
    silence = (moved, isQuiet ? silence.looks + 1 : 0)
    guard silence.looks >= Self.looks, let stall, let delegate else { return }
    let error = TransferError.stalled(stall)
    failure = error
    cancel()
    delegate.exchange(self, endedWith: error)
  }

  private var moved: Int64 {
    // An endless answer doesn't count as progress of the request's body.
    if policy == .acknowledge, !hasSentBody { return sentCount }
    let header = ccurl_get_long(easy, CURLINFO_HEADER_SIZE) + ccurl_get_long(easy, CURLINFO_REQUEST_SIZE)
    return sentCount + Int64(ccurl_get_offset(easy, CURLINFO_SIZE_DOWNLOAD_T)) + Int64(header)
  }

  /// Called when libcurl has finished with the handle.
  func end(_ result: CURLcode) {
    guard let delegate else { return }
    self.delegate = nil
    isWhole = result == CURLE_OK
    delegate.exchange(self, endedWith: failure ?? error(result))
  }

  private func error(_ result: CURLcode) -> TransferError? {
    if policy == .sample || isCutOff { return nil }
    guard result == CURLE_OK else {
      // A line above libcurl's limit of 100 KB has the code of a lack of memory, or from 8.6 on one of its own.
      let isTooLong = result == CURLE_OUT_OF_MEMORY || result == CURLcode(rawValue: 100)
      if isTooLong, policy == nil, ccurl_get_long(easy, CURLINFO_REQUEST_SIZE) > 0 {
        return TransferError(.network, "a line of the reply's header is too long")
      }
      if result == CURLE_PARTIAL_FILE, policy == nil { return Self.endedInHeader }
      let text = errorText.baseAddress.map { String(cString: $0) } ?? ""
      let systemError = Int32(ccurl_get_long(easy, CURLINFO_OS_ERRNO))
      let certificate = ccurl_get_long(easy, CURLINFO_SSL_VERIFYRESULT)
      return .curl(
        result, text: text, systemError: systemError, certificate: certificate, afterHeader: policy != nil)
    }
    // libcurl reports success for a reply that ends in its header and for a body that is too long.
    guard policy != nil else { return Self.endedInHeader }
    return excess.pointee ? .tooLong : nil
  }
}
