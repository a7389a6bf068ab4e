import CCurl
import Checksums
import Foundation
import Operations

/// An operation that downloads a URL to a file.
///
/// The bytes are written to `FILE.part`, which is renamed to the file when all bytes have arrived and match the digest,
/// if one is given. Missing folders are created. An existing part is resumed with a range request if the server gave a
/// strong entity tag or a `Last-Modified` date (kept in `FILE.part.meta`) and still has the same file. Otherwise, or if
/// the server refuses the range, the transfer starts from the first byte. Only a reply with status 200, 203 or 206 has
/// a file. The file gets the modification time that the server gives, if any. A part with bytes of another URL or
/// another program is left alone, and the bytes are written to a part with a number.
///
/// An existing file is replaced, unless it has the given digest or the download was made with another `ExistingFile`;
/// the new file takes over its permissions. A symbolic link at the file's path is replaced, not followed. A device, a
/// FIFO or a folder at that path is an error before any request is sent, as is a part that is a link or that another
/// transfer is writing. A failed download removes the folders that it created, unless it leaves a part in them.
///
/// Connecting may take 30 seconds, and `stallTimeout` limits the silence after that. The whole transfer has no limit.
/// At most ten redirects are followed, to http and https only. A redirect to another host, scheme or port drops the name
/// and password of the URL and all headers but `Accept`, `Accept-Language`, `Cache-Control` and `User-Agent`.
///
/// The result is the file's URL; it fails with a `TransferError` or, if cancelled, with a `CancellationError`. All work
/// is done on one thread that all transfers share.
public final class DownloadOperation: TransferOperation<URL>, @unchecked Sendable {
  private enum Phase {
    /// Not begun, paused or ended; if `isWhole`, all bytes are there and only their digest is left to check.
    case idle(isWhole: Bool)
    /// Reads a file that is there, which may have the digest.
    case comparing(String, FileDigest)
    /// Asks for the size and the date of the server's file, without its bytes.
    case asking
    case requesting(PartFile, RangeRequest)
    case verifying(PartFile, FileDigest)
  }

  /// The treatment of a file that already exists.
  public enum ExistingFile: Sendable {
    /// Replaces the file when all bytes of the new one have arrived.
    case overwrite
    /// Keeps the file and saves the new one under the next free number, as in `file.zip.1`.
    ///
    /// Nothing is downloaded if the server has the same file: one that is not newer, and of the same size if the server
    /// says its size.
    case number
    /// Keeps the file and downloads nothing; fails if a digest is given and the file has another one.
    case skip
  }

  private let file: URL
  /// The file's path, which does not end with a slash.
  private let path: String
  private let existing: ExistingFile
  private let usesServerName: Bool
  private let sha256: String?
  private let canResume: Bool
  /// The URL in the part's info, without a user name and a password.
  private let infoURL: String
  /// When an earlier process began the downloads that this one resumes; nil if there was none.
  ///
  /// A server-given name that a file has got since then, unless it is this download's, is taken by another of these
  /// downloads. Set it before the start.
  package var resumedSince: Date?
  /// Whether a file that they have finished makes the download unnecessary; set it before the start.
  package var takesFinished = true
  // Safe: used on the transfer thread only.
  private var phase = Phase.idle(isWhole: false)
  /// The meaning of the reply to the request under way.
  private var verdict: RangeRequest.Verdict?
  /// The file whose part is written, and the number of that part; nil until they are chosen.
  private var target: (file: String, part: Int)?
  /// The file's name that the server has chosen.
  private var serverName: String?
  /// The file that makes the download unnecessary, and why.
  private var present: (file: String, reason: String)?
  /// The files that are there and may have the digest; nil before the first look.
  private var candidates: [String]?
  /// Whether the server was asked for the size and the date of its file.
  private var hasAsked = false
  /// Whether the request under way has brought a byte.
  private var hasBytes = false
  /// The file's modification time on the server.
  private var modified: time_t?
  private let hadFile = Lock(false)

  /// Makes a download.
  ///
  /// - Parameters:
  ///   - url: http or https.
  ///   - file: A file URL.
  ///   - headers: Added to the request; `Range` and headers that frame the body are errors.
  ///   - sha256: 64 hexadecimal digits, checked against the whole file; a part that does not match is removed.
  ///   - resume: False removes the part when the transfer ends early, and starts from the first byte after a pause.
  ///   - existing: The treatment of a file that already exists.
  ///   - usesServerName: Whether a name in the reply's `Content-Disposition` replaces the file's; the folder stays.
  public convenience init(
    from url: URL, to file: URL, headers: [String: String] = [:], sha256: String? = nil, resume: Bool = true,
    existing: ExistingFile = .overwrite, usesServerName: Bool = false
  ) {
    self.init(
      from: url, to: file, headers: headers, sha256: sha256, resume: resume, existing: existing,
      usesServerName: usesServerName, thread: .shared)
  }

  package init(
    from url: some URLText, to file: URL, headers: [String: String] = [:], sha256: String? = nil, resume: Bool = true,
    existing: ExistingFile = .overwrite, usesServerName: Bool = false, thread: TransferThread
  ) {
    self.file = file
    let path = file.path(percentEncoded: false)
    self.path = String(path.utf8.dropLast(path.utf8.reversed().prefix { $0 == UInt8(ascii: "/") }.count)) ?? path
    self.existing = existing
    self.usesServerName = usesServerName
    self.sha256 = sha256
    canResume = resume
    infoURL = (try? WireURL(url.urlText))?.withoutUser ?? ""
    super.init(
      url, headers: headers, reserved: ["range", "if-range", "content-length", "transfer-encoding"], thread: thread)
  }

  /// Whether the download ended with an existing file and wrote nothing.
  package var isUpToDate: Bool { hadFile.withLock(\.self) }

  override func proceed() throws(TransferError) {
    guard case .idle(let isWhole) = phase else { return }
    if let sha256, !SHA256Sum.isHex(sha256) {
      throw TransferError(.checksum, "not a sha256 of 64 hexadecimal digits: \(sha256)")
    }
    let route = try firstRoute()
    if !isWhole {
      if let sha256, try compare(with: sha256.lowercased()) { return }
      if !usesServerName, let found = findFinished() { return endWithout(found, Self.wasFinished) }
      if existing == .skip, !usesServerName, Self.isThere(path) {
        return try endWithExisting(path, Self.isThereAlready)
      }
      if existing == .number, !usesServerName, sha256 == nil, !hasAsked, Self.isThere(path) { return try ask(route) }
    }
    let part = try openPart()
    if isWhole { return verify(part) }
    let range = canResume ? RangeRequest(size: part.size, info: part.info, url: infoURL) : RangeRequest()
    request(range, route, part)
  }

  override func hold() {
    switch phase {
    case .idle: break
    case .asking:
      cancelExchange()
      phase = .idle(isWhole: false)
    case .comparing(_, let digest):
      digest.cancel()
      candidates = nil
      phase = .idle(isWhole: false)
    case .requesting(let part, _):
      cancelExchange()
      close(part)
      phase = .idle(isWhole: false)
    case .verifying(let part, let digest):
      digest.cancel()
      part.close(keeping: true)
      phase = .idle(isWhole: true)
    }
  }

  override func willReport() throws(TransferError) {
    guard case .requesting(let part, _) = phase else { return }
    do throws(TransferError) { try part.flush() } catch {
      hold()
      throw error
    }
  }

  override func abandon() {
    hold()
    if case .idle(isWhole: true) = phase { try? close(openPart()) }
  }

  private static func isThere(_ path: String) -> Bool { FileStatus(path) != nil }

  // MARK: Files that are there

  /// Computes the digest of the next existing file; returns false if there is none.
  private func compare(with expected: String) throws(TransferError) -> Bool {
    var files = candidates ?? (existing == .number ? Array(Self.numbers(of: path).prefix { Self.isThere($0) }) : [path])
    defer { candidates = files }
    while !files.isEmpty {
      let next = files.removeFirst()
      guard file.isFileURL, let descriptor = try? ForeignFile.open(next, .named) else { continue }
      defer { Foundation.close(descriptor) }
      let digest = FileDigest.start(descriptor, of: next) { [self] digest, result in
        thread.async { self.compared(digest, result, expected: expected) }
      }
      phase = .comparing(next, digest)
      return true
    }
    return false
  }

  private func compared(_ digest: FileDigest, _ result: Result<String, TransferError>, expected: String) {
    guard case .comparing(let found, let current) = phase, current === digest else { return }
    phase = .idle(isWhole: false)
    switch result {
    case .success(expected): endWithout(found, "it has the expected sha256")
    // `skip` would return it as the requested file.
    case .success(let actual) where existing == .skip: end(.failure(mismatch(actual, expected)))
    case .failure(let error) where existing == .skip: end(.failure(error))
    default: do throws(TransferError) { try proceed() } catch { end(.failure(error)) }
    }
  }

  /// Notes both digests and returns the error for a file with another digest than the given one.
  private func mismatch(_ actual: String, _ expected: String) -> TransferError {
    note("sha256 is \(actual), expected \(expected)")
    return TransferError(.checksum, "sha256 is \(actual.prefix(12))…, expected \(expected.prefix(12))…")
  }

  /// The URLs of the files that downloads with server-given names have saved or found in this process.
  private static let saved = Lock<[BytePath: String]>([:])

  private func claim(_ path: String) {
    guard usesServerName else { return }
    Self.saved.withLock { $0[BytePath(path)] = infoURL }
  }

  /// Whether the file belongs to another URL whose server gave the same name.
  private func isOfAnother(_ path: String) -> Bool {
    guard usesServerName, let status = FileStatus(path) else { return false }
    if let owner = Self.saved.withLock({ $0[BytePath(path)] }) { return owner != infoURL }
    return resumedSince.map(status.hasChanged) ?? false && !isFinished(path)
  }

  private static let wasFinished = "it was downloaded before the run was resumed"

  /// Whether a download of the run that is resumed has finished this file, which is unchanged since.
  private func isFinished(_ path: String) -> Bool {
    guard let resumedSince, let status = FileStatus(path), status.hasChanged(since: resumedSince) else { return false }
    return DownloadMark.isOn(path, infoURL)
  }

  /// The file, perhaps with a number, that a download of the run that is resumed has finished; a digest decides by itself.
  private func findFinished() -> String? {
    guard takesFinished, resumedSince != nil, sha256 == nil else { return nil }
    // A file to be replaced has a number only beside another one of the same name by its server.
    if existing == .overwrite, !usesServerName { return isFinished(wanted) ? wanted : nil }
    return Self.numbers(of: wanted).prefix { Self.isThere($0) }.first(where: isFinished)
  }

  /// Opens the part of the first number whose names are free; where the file is to be replaced, only its part is numbered.
  private func openPart() throws(TransferError) -> PartFile {
    if let target { return try PartFile(for: target.file, number: target.part) }
    guard file.isFileURL else {
      throw TransferError(.file, "not a file URL: \(file.absoluteString.maskedURL)")
    }
    guard existing != .overwrite || !file.hasDirectoryPath else {
      throw .file(file.path(percentEncoded: false), error: EISDIR)
    }
    for (number, name) in Self.numbers(of: path).enumerated() {
      let candidate = existing == .overwrite ? (file: path, part: number) : (file: name, part: 0)
      if existing != .overwrite, Self.isThere(name) || PartFile.isInUse(for: name) { continue }
      let part = try PartFile(for: candidate.file, number: candidate.part)
      // The part belongs to another URL or another program.
      guard part.size == 0 || part.info?.url == infoURL else {
        part.close(keeping: true)
        continue
      }
      target = candidate
      return part
    }
    throw .file(path, error: EEXIST)
  }

  /// The file, then its numbers.
  private static func numbers(of path: String) -> LazyMapSequence<PartialRangeFrom<Int>, String> {
    (0...).lazy.map { FileName.numbered(path, $0) }
  }

  /// The file's final path, before it gets a number.
  private var wanted: String { serverName.map { FileName.parts(of: path).folder + $0 } ?? path }

  /// The existing file, perhaps with a number, that makes the download unnecessary, and why.
  private func findPresent(_ reply: Reply, total: Int64?) -> (file: String, reason: String)? {
    if let found = findFinished() { return (found, Self.wasFinished) }
    switch existing {
    case .overwrite: return nil
    case .skip:
      let file = Self.numbers(of: wanted).first { !isOfAnother($0) }
      return file.flatMap { Self.isThere($0) ? ($0, Self.isThereAlready) : nil }
    case .number:
      guard sha256 == nil else { return nil }
      let file = Self.numbers(of: wanted).prefix { Self.isThere($0) }.first { file in
        guard !isOfAnother(file) else { return false }
        let status = FileStatus(file, followsLink: true)
        return status.map { $0.isFile(of: reply, size: total) } ?? false
      }
      return file.map { ($0, "the server's is no newer" + (total == nil ? "" : " and of the same size")) }
    }
  }

  private static let isThereAlready = "it is there already"

  private func endWithExisting(_ found: String, _ reason: String) throws(TransferError) {
    guard sha256 == nil else {
      throw TransferError(.checksum, "\(Self.name(found)) is there, and its sha256 can't be computed")
    }
    endWithout(found, reason)
  }

  private func endWithout(_ found: String, _ reason: String) {
    hadFile.withLock { $0 = true }
    phase = .idle(isWhole: false)
    claim(found)
    tell(found, "found")
    note("\(Self.name(found)) is not downloaded: \(reason)")
    end(.success(url(of: found)))
  }

  private static func name(_ path: String) -> String { FileName.parts(of: path).name }

  private func url(of saved: String) -> URL {
    // Without the hint the URL of an existing folder ends with a slash.
    let isRequested = BytePath(saved) == BytePath(path)
    return isRequested && !file.hasDirectoryPath ? file : URL(filePath: saved, directoryHint: .notDirectory)
  }

  /// Closes a part that a later transfer may resume.
  private func close(_ part: PartFile) {
    // The next download would take a part without info for another program's.
    let isKept = canResume && part.info != nil
    if !isKept { target = nil }
    part.close(keeping: isKept)
  }

  private func ask(_ route: Route) throws(TransferError) {
    phase = .asking
    try send(Exchange(route, method: "HEAD", on: thread, delegate: self))
  }

  /// Ends the download if an existing file is the server's; otherwise requests the file, whose reply says the rest.
  private func endAsking(_ exchange: Exchange) {
    var route = exchange.route
    if let reply = exchange.reply, reply.isRedirect, let location = reply["location"],
      let text = try? route.follow(location), (try? ask(route)) != nil
    {
      return note(text)
    }
    hasAsked = true
    phase = .idle(isWhole: false)
    if let reply = exchange.reply, reply.status == 200, let found = findPresent(reply, total: reply.contentLength) {
      return endWithout(found.file, found.reason)
    }
    do throws(TransferError) { try proceed() } catch { end(.failure(error)) }
  }

  private func request(_ range: RangeRequest, _ route: Route, _ part: PartFile) {
    phase = .requesting(part, range)
    (verdict, present, hasBytes) = (nil, nil, false)
    do throws(TransferError) {
      let exchange = try Exchange(route, headers: range.headers, on: thread, delegate: self)
      // If the server sent a body to HEAD, it would be read as the reply to this request.
      if hasAsked { ccurl_set_long(exchange.easy, CURLOPT_FRESH_CONNECT, 1) }
      try send(exchange)
    } catch {
      end(part, error)
    }
  }

  private func verify(_ part: PartFile) {
    guard let expected = sha256?.lowercased() else { return commit(part) }
    do throws(TransferError) { try part.flush() } catch { return end(part, error) }
    let digest = part.startDigest { [self] digest, result in
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
      // A resumed transfer would keep the wrong bytes.
      end(part, mismatch(actual, expected), keeping: false)
    }
  }

  private func commit(_ part: PartFile) {
    do throws(TransferError) {
      let saved: String
      (part.modified, part.url) = (modified, infoURL)
      if existing == .overwrite {
        saved = Self.numbers(of: wanted).first { !isOfAnother($0) && !part.uses($0) } ?? wanted
        try part.commit(replacing: saved)
      } else {
        saved = try part.commit(numbering: wanted)
      }
      claim(saved)
      phase = .idle(isWhole: false)
      tell(saved, "saved")
      end(.success(url(of: saved)))
    } catch {
      end(part, error)
    }
  }

  /// Reports the name of the file that was `saved` or `found`, if it differs from the requested name.
  private func tell(_ saved: String, _ event: String) {
    guard BytePath(saved) != BytePath(path) else { return }
    let isNumbered = BytePath(saved) != BytePath(wanted)
    let digest = isNumbered && sha256 != nil ? " with another sha256" : ""
    let reason =
      isNumbered ? "there is another \(Self.name(wanted))\(digest)" : "the name that the server gives"
    note("\(event) as \(Self.name(saved)): \(reason)", as: .message)
  }

  private func end(_ part: PartFile, _ error: TransferError, keeping isKept: Bool = true) {
    if isKept { close(part) } else { part.close(keeping: false) }
    phase = .idle(isWhole: false)
    end(.failure(error))
  }
}

extension DownloadOperation: ExchangeDelegate {
  func exchange(_ exchange: Exchange, received reply: Reply) throws(TransferError) -> Exchange.BodyPolicy {
    guard case .requesting(let part, let range) = phase else {
      note(reply.note(method: exchange.method, url: exchange.route.url))
      return .sample
    }
    let verdict = range.judge(reply)
    self.verdict = verdict
    note(reply.note(method: "GET", url: exchange.route.url, size: verdict.size(from: range.start)))
    switch verdict {
    case .redirect, .again, .failure: return .sample
    case .whole, .rest:
      serverName = usesServerName ? reply.fileName : nil
      present = findPresent(reply, total: verdict.total)
      if present != nil { return .sample }
    }
    if case .whole(_, let text) = verdict {
      if let text { note(text) }
      try part.startAgain()
      modified = reply.lastModified
      if canResume, let info = PartInfo(url: infoURL, reply: reply) { part.setInfo(info) }
    } else {
      part.seek(to: range.start)
      // A reply to a range may omit the date that the first reply gave.
      modified = reply.lastModified ?? part.info?.modified
    }
    if let coding = reply.coding {
      note("the file is kept as the server encoded it: \(coding)")
    }
    report(part.offset, of: verdict.total)
    return .deliver
  }

  func exchange(_ exchange: Exchange, received bytes: UnsafeRawBufferPointer) throws(TransferError) {
    guard case .requesting(let part, let range) = phase else { return }
    if !hasBytes, range.asksForRest, part.info?.wasRefused == true { try part.markRefused(false) }
    hasBytes = true
    if let end = verdict?.end, Int64(bytes.count) > end - part.offset { throw .tooLong }
    try part.write(bytes)
    // A killed process loses no byte that it has reported.
    try report(part.offset, of: verdict?.total) { () throws(TransferError) in try part.flush() }
  }

  func exchange(_ exchange: Exchange, endedWith error: TransferError?) {
    if case .asking = phase { return endAsking(exchange) }
    guard case .requesting(let part, let range) = phase else { return }
    do throws(TransferError) {
      if let failure = exchange.failure { throw failure }
      if let present {
        part.close(keeping: true)
        phase = .idle(isWhole: false)
        candidates = [present.file]
        if let sha256, try compare(with: sha256.lowercased()) { return }
        return try endWithExisting(present.file, present.reason)
      }
      switch verdict {
      case nil: throw error ?? TransferError(.network, "no reply")
      case .failure(let failure):
        // The body of a success is a file, or a piece of one.
        if case .http = failure.code { noteSample(of: exchange) }
        note(retryAfter: failure)
        throw failure
      case .redirect(let location):
        var route = exchange.route
        note(try route.follow(location))
        request(range, route, part)
      case .again(let reason):
        try requestWhole(reason, part)
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
      do throws(TransferError) {
        if try isRefusedAgain(exchange, error) {
          return try requestWhole("\(error.message), also to the last request for the rest: starting again", part)
        }
        end(part, error)
      } catch {
        end(part, error)
      }
    }
  }

  /// Requests the whole file; the part keeps its bytes until a reply with that file begins, which may never come.
  private func requestWhole(_ reason: String, _ part: PartFile) throws(TransferError) {
    note(reason)
    request(RangeRequest(), try firstRoute(), part)
  }

  /// Whether the last two requests for the rest of the part have reached the server and brought no bytes.
  ///
  /// The first failure may have another cause than the range: it is only recorded in the part's info.
  private func isRefusedAgain(_ exchange: Exchange, _ error: TransferError) throws(TransferError) -> Bool {
    guard case .requesting(let part, let range) = phase, range.asksForRest, !hasBytes, let info = part.info,
      exchange.route.isRedirected || ccurl_get_long(exchange.easy, CURLINFO_REQUEST_SIZE) > 0
    else { return false }
    switch error.code {
    case .http, .network, .timedOut, .tooManyRedirects, .unsupportedURL: break
    default: return false
    }
    if info.wasRefused == true { return true }
    try part.markRefused(true)
    return false
  }
}
