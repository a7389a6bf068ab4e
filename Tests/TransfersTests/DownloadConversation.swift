import Foundation
import Operations
import Support

/// A random server of one file, which knows the true bytes.
///
/// What it says of the bytes is true, or contradicts itself or what it has said before: a client can tell.
final class DownloadConversation: Sendable {
  private struct Version {
    var plain: [UInt8]
    var encoded: [UInt8]
    var tag: String
    var date: String
  }

  /// What the replies say of a version.
  private enum Validators: CaseIterable {
    /// Nothing, or nothing that another version cannot say too.
    case none, weakTag, unquotedTag, sameSecond
    case tag, date, both

    var distinguish: Bool { [.tag, .date, .both].contains(self) }
  }

  private struct State {
    var dice: ConversationDice
    var versions: [Version] = []
    var current = 0
    var isEncoded = false
    var isRepaired = false
    /// The file as it was at the last request.
    var truth: [UInt8]?
  }

  private static let served = "Thu, 01 Jan 2026 10:00:00 GMT"

  /// Whether the client keeps parts.
  let resumes: Bool
  private let validators: Validators
  private let changesCoding: Bool
  private let reusesTag: Bool
  private let ignoresRanges: Bool
  private let refusal: Int?
  private let state: Lock<State>

  init(seed: UInt64) {
    var dice = ConversationDice(seed: seed)
    resumes = !dice.rolls(oneIn: 8)
    // Most of what can go wrong needs a part that can be resumed.
    validators = dice.rolls(oneIn: 3) ? dice.pick(Validators.allCases) : dice.pick([.tag, .date, .both])
    reusesTag = dice.rolls(.reusedTag, oneIn: 8)
    changesCoding = dice.rolls(.coding, oneIn: 4) && !reusesTag
    ignoresRanges = dice.rolls(.noRanges, oneIn: 8)
    refusal = dice.rolls(.rangeRefusal, oneIn: 8) ? dice.pick([400, 403, 405, 412, 500, 501, 503, 505]) : nil
    dice.say("\(validators)\(changesCoding ? ", encoded at times" : "")\(reusesTag ? ", one tag" : "")")
    var state = State(dice: dice)
    Self.addVersion(&state, validators, reusesTag)
    self.state = Lock(state)
  }

  var said: [String] { state.withLock { $0.dice.said } }
  /// The bytes that a download has whose last reply was the latest; nil before the first.
  var truth: [UInt8]? { state.withLock(\.truth) }

  func say(_ text: String) { state.withLock { $0.dice.say(text) } }

  /// Ends all faults but those that are the server's habit.
  func repair() {
    state.withLock { state in
      state.isRepaired = true
      state.dice.say("the server is repaired")
    }
  }

  func answer(_ request: RawServer.Request) -> [RawServer.Step] {
    state.withLock { state in
      let conditions = ["range", "if-range"].compactMap { name in request.headers[name].map { "\(name): \($0)" } }
      state.dice.say("\(request.method) \(request.path) \(conditions.joined(separator: ", "))")
      if !state.isRepaired { change(&state) }
      let version = state.versions[state.current]
      let file = state.isEncoded ? version.encoded : version.plain
      state.truth = file
      let whole = wholeReply(version, file, state.isEncoded)
      var reply = plainReply(to: request, version, whole)
      if state.isRepaired {
        return reply.steps(&state.dice, toHead: request.method == "HEAD", mayFail: false).steps
      }
      if state.dice.rolls(.noReply, oneIn: 16) {
        let bytes = state.dice.pick(["", "hello\r\n\r\n", "\r\n\r\n", "HTTP/1.1 banana\r\n\r\n", "HTTP/1.1 200"])
        state.dice.say("  \(bytes.debugDescription)")
        return [.send(bytes)]
      }
      if state.dice.rolls(.redirect, oneIn: 8) {
        reply = Self.redirect(to: request, &state.dice)
      } else if state.dice.rolls(oneIn: request.rangeStart == nil ? 4 : 2) {
        vary(&reply, request, version, whole, &state.dice)
      }
      frame(&reply, &state.dice)
      // The conversation goes on until a download succeeds, and what goes wrong needs a part.
      return reply.steps(&state.dice, toHead: request.method == "HEAD", cutsOneIn: 2).steps
    }
  }

  private static func addVersion(_ state: inout State, _ validators: Validators, _ reusesTag: Bool) {
    let number = state.versions.count
    // Often no size tells the versions apart.
    let keepsSize = state.dice.rolls(oneIn: 2)
    var size = state.dice.size()
    if keepsSize, let last = state.versions.last { size = last.plain.count }
    while reusesTag, state.versions.contains(where: { $0.plain.count == size }) { size += 1 }
    let plain = randomBytes(size, seed: UInt64(1 + number) &+ UInt64(state.dice.number(below: 1 << 30)))
    // No client needs to know the coding: the file is kept as it comes.
    let encoded = [0x1F, 0x8B] + plain.map { $0 ^ 0x55 }.dropLast(state.dice.pick([0, 2, min(2, size), size / 2]))
    let tag: String =
      switch validators {
      case .weakTag: "W/\"0\""
      case .unquotedTag: "zero"
      default: reusesTag ? "\"0\"" : "\"\(number)\""
      }
    let date = String(format: "Thu, 01 Jan 2026 00:%02d:%02d GMT", number / 60, number % 60)
    state.versions.append(
      Version(plain: plain, encoded: encoded, tag: tag, date: validators == .sameSecond ? served : date))
    state.current = number
  }

  private func change(_ state: inout State) {
    if state.dice.rolls(.change, oneIn: 4) || (reusesTag && state.dice.rolls(oneIn: 4)) {
      if state.dice.rolls(oneIn: 3) {
        state.current = state.dice.number(below: state.versions.count)
      } else {
        Self.addVersion(&state, validators, reusesTag)
      }
      state.dice.say("the file is version \(state.current)")
    }
    if changesCoding, state.dice.rolls(oneIn: 2) { state.isEncoded.toggle() }
  }

  private func wholeReply(_ version: Version, _ file: [UInt8], _ isEncoded: Bool) -> ConversationReply {
    var reply = ConversationReply(status: 200, body: file)
    switch validators {
    case .none: break
    case .weakTag, .unquotedTag, .tag: reply.fields = [("ETag", version.tag)]
    case .date, .sameSecond: reply.fields = [("Last-Modified", version.date), ("Date", Self.served)]
    case .both: reply.fields = [("ETag", version.tag), ("Last-Modified", version.date), ("Date", Self.served)]
    }
    if isEncoded { reply.fields.append(("Content-Encoding", "gzip")) }
    return reply
  }

  /// What a server without faults, but with its habits, answers.
  private func plainReply(
    to request: RawServer.Request, _ version: Version, _ whole: ConversationReply
  ) -> ConversationReply {
    guard let start = request.rangeStart else { return whole }
    if let refusal { return ConversationReply(status: refusal, body: Array("no ranges".utf8)) }
    let condition = request.headers["if-range"]
    guard !ignoresRanges, condition == nil || condition == version.tag || condition == version.date else {
      return whole
    }
    guard start < whole.body.count else {
      return ConversationReply(status: 416, fields: [("Content-Range", "bytes */\(whole.body.count)")])
    }
    return whole.part(start, whole.body.count - 1)
  }

  private static func redirect(to request: RawServer.Request, _ dice: inout ConversationDice) -> ConversationReply {
    let host = request.headers["host"] ?? ""
    let targets = ["/f?\(request.number)", "?x", "http://\(host)/g", "/f#part", "", "http://", "ftp://\(host)/f"]
    let target = dice.rolls(oneIn: 4) ? dice.pick(targets) : targets[0]
    return ConversationReply(
      status: dice.pick([301, 302, 303, 307, 308]), fields: [("Location", target)],
      body: Array(dice.pick(["", "moved"]).utf8))
  }

  /// Makes a reply with a fault of it.
  private func vary(
    _ reply: inout ConversationReply, _ request: RawServer.Request, _ version: Version, _ whole: ConversationReply,
    _ dice: inout ConversationDice
  ) {
    let count = whole.body.count
    let start = request.rangeStart ?? 0
    let common: [ConversationKind] = [
      .refusal, .noFile, .excess, .wrongLength, .unsatisfiable, .otherRange, .wrongRange, .rangeOf200,
    ]
    let toRange: [ConversationKind] = [.otherRange, .otherRange, .otherRange, .stale, .stale, .bare, .bare, .tail]
    let kind = dice.kind(of: request.rangeStart == nil ? common : common + toRange)
    func range(_ dice: inout ConversationDice) -> (first: Int, end: Int)? {
      guard count > 1 else { return nil }
      let first = dice.pick([0, start, start - 1, start + 1, dice.number(below: count), count / 2, count - 1])
      guard 0..<count ~= first else { return nil }
      return (first, dice.rolls(oneIn: 2) ? count - 1 : dice.number(in: first...count - 1))
    }
    switch kind {
    case .refusal:
      let status = dice.pick([304, 400, 401, 403, 404, 408, 409, 412, 429, 500, 502, 503, 504])
      reply = ConversationReply(status: status, body: Array("<html>\(status)".utf8))
      if dice.rolls(oneIn: 4) { reply.fields = [("Retry-After", "1"), ("ETag", version.tag)] }
    case .noFile:
      reply = whole
      (reply.status, reply.body) = (dice.pick([201, 202, 204, 205, 207, 226]), Array("accepted".utf8))
    case .excess:
      let excess = randomBytes(1 + dice.number(below: 2000), seed: 99)
      // Of a part, more than its range and not more than its length.
      if reply.status == 206, dice.rolls(oneIn: 2) { reply.body += excess } else { reply.excess = excess }
    case .wrongLength where !reusesTag:
      // The last one is beside chunks.
      let lengths = ["x", "-1", "\(count)x", "\(count), \(count + 1)", "0x10", "+\(count)", "7"]
      let number = dice.number(below: lengths.count)
      reply.length = lengths[number]
      if number == lengths.count - 1 { reply.framing = .chunked }
    case .unsatisfiable:
      let ranges = ["bytes */\(count)", "bytes */\(start + 1 + dice.number(below: 100))", "bytes */*"]
      reply = whole
      (reply.status, reply.body) = (416, Array("no".utf8))
      if dice.rolls(oneIn: 2) { reply.fields.append(("Content-Range", dice.pick(ranges))) }
    case .otherRange:
      if let (first, end) = range(&dice) { reply = whole.part(first, end) }
    case .wrongRange:
      guard let (first, end) = range(&dice), first != start else { break }
      let wrong = [
        nil, "bytes", "bytes \(first)-/\(count)", "items \(first)-\(end)/\(count)", "\(first)-\(end)",
        "bytes=\(first)-\(end)/\(count)", "bytes \(end + 1)-\(first)/\(count)", "bytes \(first)-\(end)/\(end)",
        "bytes */\(count)", "bytes \(first)-\(end)", "bytes -\(end)/\(count)",
      ]
      reply = whole.part(first, end, says: dice.pick(wrong))
      if dice.rolls(oneIn: 4) { reply.fields.append(("Content-Type", "multipart/byteranges; boundary=x")) }
    case .rangeOf200:
      guard let (first, end) = range(&dice) else { break }
      reply = whole.part(first, end)
      reply.status = dice.pick([200, 200, 203])
    case .stale where validators.distinguish && start > 0 && start < count:
      reply = whole.part(start, count - 1)
    case .tail where validators.distinguish && start > 0 && start < count:
      (reply, reply.body) = (whole, Array(whole.body[start...]))
    case .bare where reply.status == 206 && !changesCoding:
      let hasTotal = reusesTag || dice.rolls(oneIn: 2)
      let end = hasTotal || dice.rolls(oneIn: 2) ? count - 1 : dice.number(in: start...count - 1)
      reply = whole.part(start, end, says: "bytes \(start)-\(end)/\(hasTotal ? "\(count)" : "*")")
      reply.fields.removeAll { $0.name != "Content-Range" }
    default: break
    }
  }

  private func frame(_ reply: inout ConversationReply, _ dice: inout ConversationDice) {
    guard reply.length == nil, reply.excess.isEmpty, !reusesTag else { return }
    if dice.rolls(.chunked, oneIn: 4) {
      reply.framing = .chunked
    } else if dice.rolls(.unframed, oneIn: 8) {
      reply.framing = .unframed
    }
  }
}

extension ConversationReply {
  /// A 206 with the bytes of this body from `first` to `end`, inclusive, which says so unless it `says` otherwise.
  fileprivate func part(_ first: Int, _ end: Int, says range: String?) -> ConversationReply {
    var part = ConversationReply(status: 206, fields: fields, body: Array(body[first...end]))
    if let range { part.fields.append(("Content-Range", range)) }
    return part
  }

  fileprivate func part(_ first: Int, _ end: Int) -> ConversationReply {
    part(first, end, says: "bytes \(first)-\(end)/\(body.count)")
  }
}
