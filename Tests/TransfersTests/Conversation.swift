import Foundation
import Operations
import Support

/// What a random server may do besides plain replies.
///
/// `OPDASH_CONVERSATION_KINDS=cut,redirect` leaves the others out.
enum ConversationKind: String, CaseIterable {
  // In any conversation.
  /// A reply ends early.
  case cut
  /// A connection ends with RST.
  case reset
  case chunked
  /// A 1xx, with fields of its own, comes before a reply.
  case interim
  case redirect
  /// A status of 4xx or 5xx.
  case refusal
  /// Something else than a reply, or nothing.
  case noReply

  // In that of a download.
  /// The file changes between two requests.
  case change
  /// The file is encoded or not, from one reply to the next, under one tag.
  case coding
  /// A body without a length, which ends with the connection.
  case unframed
  /// More bytes than the length says.
  case excess
  /// A `Content-Length` that is none.
  case wrongLength
  /// A 2xx without the file.
  case noFile
  /// 200 to each `Range`.
  case noRanges
  /// The same status of 4xx or 5xx to each `Range`.
  case rangeRefusal
  /// 416, with any size.
  case unsatisfiable
  /// 206 with other bytes than those asked for.
  case otherRange
  /// 206 with a `Content-Range` that is none.
  case wrongRange
  /// 200 with a `Content-Range`.
  case rangeOf200
  /// 206 of the file as it is now to an `If-Range` of the file as it was.
  case stale
  /// 206 without tag and date.
  case bare
  /// The rest that was asked for, as a whole file.
  case tail
  /// A file of another size under the same tag.
  case reusedTag

  // In that of an upload.
  /// The reply comes before the body is read.
  case early
  /// A body large enough for `Expect`, which may be refused.
  case expectation
}

/// Random choices, of the kinds that are switched on, that a seed repeats; and what was said as a consequence.
struct ConversationDice {
  private static let chosen: Set<ConversationKind> = {
    let names = ProcessInfo.processInfo.environment["OPDASH_CONVERSATION_KINDS"]?.split(separator: ",")
    return Set(names?.compactMap { ConversationKind(rawValue: String($0)) } ?? ConversationKind.allCases)
  }()

  private var random: SplitMix
  private(set) var said: [String] = []

  init(seed: UInt64) { random = SplitMix(seed: seed) }

  mutating func say(_ text: String) { said.append(text) }

  /// True one time in so many, if the kind is switched on.
  mutating func rolls(_ kind: ConversationKind? = nil, oneIn count: Int) -> Bool {
    let isDrawn = number(below: count) == 0
    return isDrawn && kind.map { Self.chosen.contains($0) } ?? true
  }

  /// One of these kinds that is switched on; nil if none is.
  mutating func kind(of kinds: [ConversationKind]) -> ConversationKind? {
    let kinds = kinds.filter { Self.chosen.contains($0) }
    return kinds.isEmpty ? nil : pick(kinds)
  }

  mutating func pick<T>(_ items: [T]) -> T { items[number(below: items.count)] }
  mutating func number(below limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
  mutating func number(in range: ClosedRange<Int>) -> Int { range.lowerBound + number(below: range.count) }

  /// The size of a file, small ones and the limits of buffers above all.
  mutating func size() -> Int {
    switch number(below: 8) {
    case 0: number(below: 3)
    case 1: 16_384 + number(below: 3)
    case 2: number(below: 200_000)
    default: 1 + number(below: 3000)
    }
  }
}

/// A reply before it is put into bytes.
struct ConversationReply {
  enum Framing: String { case length, chunked, unframed }

  var status: Int
  var fields: [(name: String, value: String)] = []
  var body: [UInt8] = []
  var framing = Framing.length
  /// In place of the true one.
  var length: String?
  var excess: [UInt8] = []

  /// Whether no reply of this status has a body.
  private var isBodiless: Bool { status == 204 || status == 304 }
  private var hasEnd: Bool { status == 206 && fields.contains { $0.name == "Content-Range" } }

  /// The bytes, with random faults of the transport, then the end of the connection; and whether the header is whole.
  ///
  /// A body without a length is cut only where the header says where it ends: no client can find the fault elsewhere.
  func steps(
    _ dice: inout ConversationDice, toHead: Bool = false, mayFail: Bool = true, cutsOneIn: Int = 8
  ) -> (steps: [RawServer.Step], hasHeader: Bool) {
    var head = ""
    if mayFail, dice.rolls(.interim, oneIn: 8) {
      let interim = ["100 Continue", "102 Processing", "103 Early Hints\r\nLink: </style.css>; rel=preload"]
      // What a 1xx says is not said of the file.
      let fields = ["", "\r\nETag: \"hint\"", "\r\nContent-Length: 5", "\r\nContent-Encoding: hint"]
      head += "HTTP/1.1 \(dice.pick(interim))\(dice.pick(fields))\r\n\r\n"
    }
    head += framing == .unframed && dice.rolls(oneIn: 2) ? "HTTP/1.0 \(status)\r\n" : "HTTP/1.1 \(status) Words\r\n"
    for (name, value) in fields { head += "\(name): \(value)\r\n" }
    if framing == .chunked, !isBodiless { head += "Transfer-Encoding: chunked\r\n" }
    if let length = length ?? (framing == .length && !isBodiless ? "\(body.count)" : nil) {
      head += "Content-Length: \(length)\r\n"
    }
    var isKept = framing != .unframed && length == nil && excess.isEmpty && !dice.rolls(oneIn: 4)
    if !isKept, dice.rolls(oneIn: 2) { head += "Connection: close\r\n" }
    var bytes = Array((head + "\r\n").utf8)
    let headSize = bytes.count
    if !toHead, !isBodiless { bytes += framing == .chunked ? Self.chunks(body, &dice) : body }
    var text = "\(status) \(fields.map { "\($0.name): \($0.value)" }), \(framing) of \(length ?? "\(body.count)")"
    if mayFail, dice.rolls(.cut, oneIn: cutsOneIn) {
      let last = (framing == .unframed && !hasEnd || isBodiless ? headSize - 1 : bytes.count) - 1
      bytes = Array(bytes.prefix(dice.number(in: (dice.rolls(oneIn: 4) ? 0 : min(headSize, last))...last)))
      isKept = false
      text += ", cut after \(bytes.count - headSize)"
    } else {
      bytes += excess
      if !excess.isEmpty { text += ", \(excess.count) too many" }
    }
    let isReset = mayFail && !isKept && dice.rolls(.reset, oneIn: 4)
    dice.say("  \(text)\(isReset ? ", reset" : isKept ? "" : ", closed")")
    return ([.sendBytes(bytes)] + (isReset ? [.reset] : isKept ? [.next] : []), bytes.count >= headSize)
  }

  private static func chunks(_ body: [UInt8], _ dice: inout ConversationDice) -> [UInt8] {
    var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], body[...])
    while !rest.isEmpty {
      let chunk = rest.prefix(dice.number(in: 1...max(1, min(rest.count, 40_000))))
      let size = String(chunk.count, radix: 16) + (dice.rolls(oneIn: 4) ? ";a=b" : "")
      bytes += Array("\(size)\r\n".utf8) + chunk + [13, 10]
      rest = rest.dropFirst(chunk.count)
    }
    return bytes + Array((dice.rolls(oneIn: 4) ? "0\r\nETag: \"trailer\"\r\n\r\n" : "0\r\n\r\n").utf8)
  }
}
