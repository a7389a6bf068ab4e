import Foundation
import Operations

/// An operation that downloads a URL to a file.
///
/// The bytes are written to `FILE.part`, which is renamed to the file when all of them have arrived and, if a digest is
/// given, are the right ones; missing folders are created. An existing part is resumed with a range request where the server
/// gave a strong entity tag or a date of last change (kept in `FILE.part.meta`) and still has the same file; otherwise
/// the transfer starts from the first byte. Only a reply of status 200, 203 or 206 has a file.
///
/// A file that is replaced hands on its permissions. A symbolic link in its place is replaced itself, not followed; a
/// device, a FIFO or a folder is an error before anything is sent, and so is a part that is a link or that another
/// transfer writes.
///
/// Connecting may take 30 seconds; after that there is no time limit, so set one on the operation if it needs one.
/// At most ten redirects are followed, to http and https only. A redirect to another host, scheme or port drops all headers
/// but `Accept`, `Accept-Language`, `Cache-Control` and `User-Agent`.
///
/// The result is the file's URL; it fails with a `TransferError` or, if cancelled, with a `CancellationError`. All work
/// is done on one thread that all transfers share.
public final class DownloadOperation: TransferOperation<URL>, @unchecked Sendable {
  private enum Phase {
    /// Not begun, paused or ended; if `isWhole`, all bytes are there and only their digest is left to check.
    case idle(isWhole: Bool)
    case requesting(PartFile, RangeRequest)
    case verifying(PartFile, FileDigest)
  }

  private let file: URL
  private let sha256: String?
  private let canResume: Bool
  /// What the part's info is stored under: the URL without a name and a password.
  private let infoURL: String
  // Safe: used on the transfer thread only.
  private var phase = Phase.idle(isWhole: false)
  /// The meaning of the reply to the request under way.
  private var verdict: RangeRequest.Verdict?

  /// Makes a download.
  ///
  /// - Parameters:
  ///   - url: http or https.
  ///   - file: A file URL; an existing file is replaced.
  ///   - headers: Added to the request; `Range` and headers that frame the body are errors.
  ///   - sha256: 64 hexadecimal digits, checked against the whole file; a part that does not match is removed.
  ///   - resume: False removes the part when the transfer ends early, and starts from the first byte after a pause.
  public convenience init(
    from url: URL, to file: URL, headers: [String: String] = [:], sha256: String? = nil, resume: Bool = true
  ) {
    self.init(from: url, to: file, headers: headers, sha256: sha256, resume: resume, thread: .shared)
  }

  package init(
    from url: URL, to file: URL, headers: [String: String] = [:], sha256: String? = nil, resume: Bool = true,
    thread: TransferThread
  ) {
    self.file = file
    self.sha256 = sha256
    canResume = resume
    infoURL = Route.withoutUser(url)
    super.init(
      url, headers: headers, reserved: ["range", "if-range", "content-length", "transfer-encoding"], thread: thread)
  }

  override func proceed() throws(TransferError) {
    guard case .idle(let isWhole) = phase else { return }
    if let sha256, !FileDigest.isDigest(sha256) {
      throw TransferError(.checksum, "not a sha256 of 64 hexadecimal digits: \(sha256)")
    }
    let route = try firstRoute()
    let part = try PartFile(for: file)
    if isWhole { return verify(part) }
    let range = canResume ? RangeRequest(size: part.size, info: part.info, url: infoURL) : RangeRequest()
    request(range, route, part)
  }

  override func hold() {
    switch phase {
    case .idle: break
    case .requesting(let part, _):
      cancelExchange()
      part.close(keeping: canResume)
      phase = .idle(isWhole: false)
    case .verifying(let part, let digest):
      digest.cancel()
      part.close(keeping: true)
      phase = .idle(isWhole: true)
    }
  }

  override func abandon() {
    hold()
    if !canResume, case .idle(isWhole: true) = phase { try? PartFile(for: file).close(keeping: false) }
  }

  private func request(_ range: RangeRequest, _ route: Route, _ part: PartFile) {
    phase = .requesting(part, range)
    verdict = nil
    do throws(TransferError) {
      try send(Exchange(route, headers: range.headers, on: thread, delegate: self))
    } catch {
      end(part, error)
    }
  }

  private func verify(_ part: PartFile) {
    guard let expected = sha256?.lowercased() else { return commit(part) }
    let digest = FileDigest.start(part.path) { [self] digest, result in
      thread.async { self.verified(digest, result, expected: expected) }
    }
    phase = .verifying(part, digest)
  }

  private func verified(_ digest: FileDigest, _ result: Result<String, TransferError>, expected: String) {
    guard case .verifying(let part, let current) = phase, current === digest else { return }
    switch result {
    case .failure(let error): end(part, error)
    case .success(expected): commit(part)
    case .success(let actual):
      note("sha256 is \(actual), expected \(expected)")
      // A resumed transfer would keep the wrong bytes.
      let error = TransferError(.checksum, "sha256 is \(actual.prefix(12))…, expected \(expected.prefix(12))…")
      end(part, error, keeping: false)
    }
  }

  private func commit(_ part: PartFile) {
    do throws(TransferError) {
      try part.commit()
      phase = .idle(isWhole: false)
      end(.success(file))
    } catch {
      end(part, error)
    }
  }

  private func end(_ part: PartFile, _ error: TransferError, keeping isKept: Bool? = nil) {
    part.close(keeping: isKept ?? canResume)
    phase = .idle(isWhole: false)
    end(.failure(error))
  }
}

extension DownloadOperation: ExchangeDelegate {
  func exchange(_ exchange: Exchange, received reply: Reply) throws(TransferError) -> Exchange.BodyPolicy {
    guard case .requesting(let part, let range) = phase else { return .sample }
    let verdict = range.judge(reply)
    self.verdict = verdict
    note(reply.note(method: "GET", url: exchange.route.url, size: verdict.size(from: range.start)))
    switch verdict {
    case .redirect, .again, .failure: return .sample
    case .whole(_, let text):
      if let text { note(text) }
      try part.startAgain()
      if canResume, let info = PartInfo(url: infoURL, reply: reply) { try part.save(info) }
    case .rest: part.seek(to: range.start)
    }
    if let coding = reply["content-encoding"], coding.lowercased() != "identity" {
      note("the file is kept as the server encoded it: \(coding)")
    }
    report(part.offset, of: verdict.total)
    return .deliver
  }

  func exchange(_ exchange: Exchange, received bytes: UnsafeRawBufferPointer) throws(TransferError) {
    guard case .requesting(let part, _) = phase else { return }
    if let end = verdict?.end, Int64(bytes.count) > end - part.offset { throw .tooLong }
    try part.write(bytes)
    report(part.offset, of: verdict?.total)
  }

  func exchange(_ exchange: Exchange, endedWith error: TransferError?) {
    guard case .requesting(let part, let range) = phase else { return }
    do throws(TransferError) {
      if let failure = exchange.failure { throw failure }
      switch verdict {
      case nil: throw error ?? TransferError(.network, "no reply")
      case .failure(let failure):
        noteSample(of: exchange)
        note(retryAfter: failure)
        throw failure
      case .redirect(let location):
        var route = exchange.route
        note(try route.follow(location))
        request(range, route, part)
      case .again(let reason):
        note(reason)
        try part.startAgain()
        request(RangeRequest(), try firstRoute(), part)
      case .whole, .rest:
        if let total = verdict?.total, part.offset < total, error != .tooLong {
          throw .ended(after: part.offset, of: total)
        }
        if let error { throw error }
        report(part.offset, of: part.offset)
        flushProgress()
        verify(part)
      }
    } catch {
      // The bytes of a server that contradicts itself are not worth resuming.
      if error == .tooLong { try? part.startAgain() }
      end(part, error)
    }
  }
}
