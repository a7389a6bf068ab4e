import Foundation
import Operations
import Support

/// A random server that takes one file, and knows which bytes have reached it and what it has said to which request.
final class UploadConversation: Sendable {
  private struct Exchange {
    var method: String
    /// As far as the body has come.
    var body: [UInt8] = []
    /// Nil until the client can have read the header of a reply.
    var status: Int?
  }

  private struct State {
    var dice: ConversationDice
    var exchanges: [Exchange] = []
    var isRepaired = false
  }

  let file: [UInt8]
  let method: String
  private let state: Lock<State>

  init(seed: UInt64) {
    var dice = ConversationDice(seed: seed)
    method = dice.pick(["PUT", "POST"])
    // From 1 MiB on libcurl asks first.
    let size = dice.rolls(.expectation, oneIn: 8) ? 1_048_577 + dice.number(below: 1_000_000) : dice.size()
    file = randomBytes(size, seed: seed &+ 1)
    dice.say("\(method) of \(size) bytes")
    state = Lock(State(dice: dice))
  }

  var said: [String] { state.withLock { $0.dice.said } }
  func say(_ text: String) { state.withLock { $0.dice.say(text) } }

  /// Ends all faults.
  func repair() {
    state.withLock { state in
      state.isRepaired = true
      state.dice.say("the server is repaired")
    }
  }

  /// Why an upload that has ended with this status has not succeeded; nil if it has.
  ///
  /// Its last reply must be to a request whose body has come whole, or to the GET to which such a one was redirected.
  func fault(ofSuccess status: Int) -> String? {
    state.withLock { state in
      guard var last = state.exchanges.popLast() else { return "succeeded without a request" }
      guard last.status == status, 200..<300 ~= status else {
        return "succeeded with \(status), where the server said \(last.status.map(String.init) ?? "nothing")"
      }
      while last.method == "GET", let before = state.exchanges.popLast() {
        let isAnswer = before.status == 303 || (before.method != "PUT" && [301, 302].contains(before.status))
        // libcurl repeats a request that a kept connection has not taken.
        guard isAnswer || before.method == "GET" else { break }
        last = before
      }
      return last.body == file && last.method == method
        ? nil : "succeeded after \(last.body.count) of \(file.count) bytes, of a \(last.method)"
    }
  }

  func answer(_ request: RawServer.Request) -> [RawServer.Step] {
    state.withLock { state in
      let asks = request.headers["expect"] != nil
      state.dice.say("\(request.method) \(request.path)\(asks ? ", expects" : "")")
      let number = state.exchanges.count
      state.exchanges.append(Exchange(method: request.method))
      let size = request.headers["content-length"].flatMap { Int($0) } ?? 0
      func read(_ count: Int) -> RawServer.Step {
        .readBody(count) { bytes in self.state.withLock { $0.exchanges[number].body += bytes } }
      }
      let goOn = RawServer.Step.send("HTTP/1.1 100 Continue\r\n\r\n")
      let readAll = asks ? [goOn, read(size)] : [read(size)]
      if state.isRepaired {
        state.exchanges[number].status = 201
        return readAll + ConversationReply(status: 201).steps(&state.dice, mayFail: false).steps
      }
      if state.dice.rolls(.noReply, oneIn: 16) {
        let bytes = state.dice.pick(["", "hello\r\n\r\n", "HTTP/1.1 201", "HTTP/1.1 100 Continue\r\n\r\n"])
        let count = state.dice.pick([0, size / 2, size])
        state.dice.say("  \(bytes.debugDescription) after \(count)")
        return (asks ? [goOn] : []) + [read(count), .send(bytes)]
      }
      let reply = reply(to: request, asks, &state.dice)
      let isEarly = state.dice.rolls(.early, oneIn: 3)
      let count = isEarly ? state.dice.pick([0, min(size, 1), size / 2]) : size
      if isEarly { state.dice.say("  after \(count)") }
      let (steps, hasHeader) = reply.steps(&state.dice)
      if hasHeader { state.exchanges[number].status = reply.status }
      if isEarly {
        // One who has asked may be told at once.
        let before = count == 0 || (asks && state.dice.rolls(oneIn: 2)) ? [] : (asks ? [goOn] : []) + [read(count)]
        // Read to its end, the body is what the client has sent; a refused one need not come.
        let isTaken = hasHeader && 200..<400 ~= reply.status
        let rest = isTaken ? [read(size - (before.isEmpty ? 0 : count))] : []
        return before + [steps[0]] + rest + (isTaken ? steps.dropFirst() : [])
      }
      return readAll + steps
    }
  }

  private func reply(to request: RawServer.Request, _ asks: Bool, _ dice: inout ConversationDice) -> ConversationReply {
    var reply = ConversationReply(status: dice.pick([200, 200, 201, 202, 204]))
    if request.method == "GET" { reply.status = 200 }
    reply.body = Array(dice.pick(["", "ok", "log in"]).utf8)
    if dice.rolls(.redirect, oneIn: 3) {
      reply.status = dice.pick([301, 302, 303, 307, 308])
      reply.fields = [("Location", dice.pick(["/login", "/up/2", "?again"]))]
    } else if dice.rolls(.refusal, oneIn: 3) {
      reply.status = asks && dice.rolls(oneIn: 2) ? 417 : dice.pick([400, 401, 403, 404, 409, 411, 413, 417, 500, 503])
    }
    if dice.rolls(.chunked, oneIn: 4) { reply.framing = .chunked }
    return reply
  }
}
