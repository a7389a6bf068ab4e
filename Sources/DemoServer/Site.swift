import Foundation
import Operations
import Synchronization

/// The content of the server.
final class Site: Sendable {
  private struct State {
    /// By method and address, for faults that apply to a number of requests.
    var requests: [String: Int] = [:]
    /// By path.
    var seen: [String: Int] = [:]
    var uploads: [String: ReceivedBody] = [:]
    var catalogue = Catalogue()
  }

  private let state = Lock(State())
  /// The number of calls by the library.
  let turns = Atomic(0)
  let suspensions = Suspensions()

  func requestCount(_ path: String) -> Int { state.withLock { $0.seen[path, default: 0] } }

  /// Counts the request and returns its fault.
  func admit(_ request: Request, method: String) -> Fault? {
    guard method != "HEAD" else { return nil }
    return state.withLock { state in
      state.seen["/" + request.path.joined(separator: "/"), default: 0] += 1
      let count = state.requests["\(method) \(request.address)", default: 0]
      state.requests["\(method) \(request.address)"] = count + 1
      return request.options.fault(ofRequest: count)
    }
  }

  func reply(to exchange: DemoExchange) -> ServerReply {
    if case .status(let status)? = exchange.fault { return .text(status, "as ordered: \(status)") }
    do throws(Refusal) {
      let request = try exchange.request.get()
      switch (exchange.method, request.path.first, request.path.dropFirst().first) {
      case ("GET", "file", let name?), ("HEAD", "file", let name?):
        return file(named: name, request.options, exchange)
      case ("PUT", "upload", let name?), ("POST", "upload", let name?):
        return store(exchange.body, as: name)
      case ("GET", "upload", let name?), ("HEAD", "upload", let name?):
        return stored(name)
      case ("GET", "content", nil):
        return .json(200, state.withLock { $0.catalogue.items })
      case ("POST", "content", let id?):
        let title = try title(in: exchange.body)
        return .json(201, try change { catalogue throws(Refusal) in try catalogue.create(id, title: title) })
      case ("GET", "content", let id?):
        _ = try change { catalogue throws(Refusal) in try catalogue.index(of: id) }
        var reply = file(named: id, request.options, exchange)
        reply.onSent = { [weak self] in self?.state.withLock { $0.catalogue.markReceived(id) } }
        return reply
      case ("PUT", "assets", let id?):
        let (size, sum) = (exchange.body.size, exchange.body.sha256)
        return .json(201, try change { catalogue throws(Refusal) in try catalogue.store(id, size: size, sha256: sum) })
      case ("POST", "enrich", let id?):
        return .json(200, try change { catalogue throws(Refusal) in try catalogue.enrich(id) })
      default:
        return .text(404, "\(exchange.method) \(request.address) is nothing that this server knows")
      }
    } catch {
      return .text(error.status, error.message)
    }
  }

  private func change<Value>(_ body: (inout Catalogue) throws(Refusal) -> Value) throws(Refusal) -> Value {
    try state.withLock { state throws(Refusal) in try body(&state.catalogue) }
  }

  private func file(named name: String, _ options: Request.Options, _ exchange: DemoExchange) -> ServerReply {
    let content = DemoContent(size: options.size, seed: options.seed)
    let tag = "\"\(name)-\(options.size)-\(options.seed)\""
    let date = "Thu, 01 Jan 2026 00:00:00 GMT"
    var headers = [("ETag", tag), ("Last-Modified", date), ("Content-Type", "application/octet-stream")]
    headers.append(("Accept-Ranges", options.ranges ? "bytes" : "none"))
    var range = ByteRange.whole
    // A range of changed content would spoil the client's part.
    if options.ranges, exchange.header("If-Range").map({ $0 == tag || $0 == date }) ?? true {
      range = ByteRange(exchange.header("Range"), size: options.size)
    }
    switch range {
    case .whole:
      return ServerReply(status: 200, headers: headers, body: .content(content, 0..<options.size))
    case .part(let part):
      headers.append(("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(options.size)"))
      return ServerReply(status: 206, headers: headers, body: .content(content, part))
    case .unsatisfiable:
      return ServerReply(status: 416, headers: headers + [("Content-Range", "bytes */\(options.size)")])
    }
  }

  private struct Receipt: Encodable {
    var name: String
    var size: Int
    var sha256: String
  }

  private func store(_ upload: ReceivedBody, as name: String) -> ServerReply {
    state.withLock { $0.uploads[name] = upload }
    return .json(201, Receipt(name: name, size: upload.size, sha256: upload.sha256))
  }

  private func stored(_ name: String) -> ServerReply {
    guard let upload = state.withLock({ $0.uploads[name] }) else { return .text(404, "'\(name)' was not uploaded") }
    guard let bytes = upload.bytes else {
      return .text(410, "'\(name)' had more than \(ReceivedBody.kept) bytes, which are not kept")
    }
    return ServerReply(status: 200, headers: [("ETag", "\"\(upload.sha256)\"")], body: .bytes(bytes))
  }

  private struct Draft: Decodable {
    var title: String
  }

  private func title(in body: ReceivedBody) throws(Refusal) -> String {
    guard let bytes = body.bytes, let draft = try? JSONDecoder().decode(Draft.self, from: Data(bytes)) else {
      throw Refusal(status: 400, message: "the body must be a JSON object with a title")
    }
    return draft.title
  }
}
