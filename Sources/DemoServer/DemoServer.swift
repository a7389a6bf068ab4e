import CMicrohttpd
import Foundation
import Operations
import Synchronization

/// A loopback HTTP server that is slow, broken or refusing on request, for scenarios and tests.
///
///     GET  /file/NAME      `size` bytes that `size` and `seed` determine (`DemoContent`), with ETag, Last-Modified and
///                          Range; `ranges=0` takes no ranges
///     PUT  /upload/NAME    keeps the body and answers its size and SHA-256 as JSON; POST does the same
///     GET  /upload/NAME    the uploaded file
///
///     POST /content/ID     creates an item from a JSON object with a `title`
///     GET  /content/ID     its original, with the options of /file
///     PUT  /assets/ID      its finished asset, once the original was received whole
///     POST /enrich/ID      tags it, once the asset is there
///     GET  /content        every item, as JSON
///
/// Options of every address:
///
///     rate=N               bytes a second, of the body that is sent or received
///     delay=N              milliseconds before the answer's header
///     status=N             answers with this status only
///     cut=N                the connection ends after N bytes of the body; cut=header: within the header
///     reset=N              the same by a reset
///     stall=N              this many milliseconds before the header
///     hangup               the connection ends without a word
///     times=K              each of the last five, in their order, applies to K requests of the same address; later
///                          answers are right. Without it the first applies to all requests
///
/// One thread serves all connections. A slow one waits on a timer, so an idle server uses no CPU.
package final class DemoServer: Sendable {
  /// The server could not listen.
  package struct StartFailure: Error, CustomStringConvertible {
    package var port: UInt16
    package var reason: String

    package var description: String { "the demo server can't listen on 127.0.0.1:\(port): \(reason)" }
  }

  /// The actual port, also if 0 was requested.
  package let port: UInt16

  private let site = Site()
  private let daemon: Lock<LibraryPointer?>

  package init(port: UInt16 = 0) throws(StartFailure) {
    let context = Unmanaged.passUnretained(site).toOpaque()
    guard let pointer = opdash_mhd_start(port, handleRequest, context, openRequest, closeRequest) else {
      throw StartFailure(port: port, reason: String(cString: strerror(errno)))
    }
    self.port = opdash_mhd_port(pointer)
    daemon = Lock(LibraryPointer(pointer: pointer))
  }

  /// The base URL: `http://127.0.0.1:8080`.
  package var address: String { "http://127.0.0.1:\(port)" }

  /// The number of requests for a path with any options, without HEAD.
  package func requestCount(_ path: String) -> Int { site.requestCount(path) }

  /// The number of calls on the server's thread.
  package var turnCount: Int { site.turns.load(ordering: .relaxed) }

  /// Closes every connection and returns when the thread has ended; further calls do nothing.
  package func stop() {
    guard let handle = daemon.withLock({ $0.take() }) else { return }
    site.suspensions.close()
    MHD_stop_daemon(handle.pointer)
  }

  deinit { stop() }
}

// Callbacks of the library, on its thread. `cls` is the site, the context of a connection its exchange.

private func openRequest(
  _ cls: UnsafeMutableRawPointer?, _ address: UnsafePointer<CChar>?, _ connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  guard let cls, let address, let connection else { return nil }
  let site = Unmanaged<Site>.fromOpaque(cls).takeUnretainedValue()
  let exchange = DemoExchange(String(cString: address), on: connection, of: site)
  return Unmanaged.passRetained(exchange).toOpaque()
}

private func closeRequest(
  _ cls: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode
) {
  guard let exchange = context?.pointee else { return }
  context?.pointee = nil
  Unmanaged<DemoExchange>.fromOpaque(exchange).release()
}

private func handleRequest(
  _ cls: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
  _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
  _ size: UnsafeMutablePointer<Int>?, _ context: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let method, let size, let pointer = context?.pointee else { return .NO }
  let exchange = Unmanaged<DemoExchange>.fromOpaque(pointer).takeUnretainedValue()
  let site = exchange.site
  site.turns.add(1, ordering: .relaxed)
  switch exchange.phase {
  case nil:
    exchange.method = String(cString: method)
    exchange.phase = .receiving
    guard case .success(let request) = exchange.request else { return .YES }
    exchange.fault = site.admit(request, method: exchange.method)
    switch exchange.fault {
    case .hangUp?: return .NO
    case .cutHeader?:
      let start = Array("HTTP/1.1 200 OK\r\nContent-Le".utf8)
      opdash_mhd_send_raw(exchange.connection.pointer, start, start.count)
      return .NO
    // A client that waits for 100 Continue is answered before it sends the body.
    case .status?: return exchange.header("Expect") == nil ? .YES : answer(exchange)
    default: return .YES
    }
  case .receiving?:
    if size.pointee > 0 {
      let piece = UnsafeRawBufferPointer(start: data, count: size.pointee)
      guard let taken = exchange.receive(piece) else { return .NO }
      size.pointee -= taken
      return .YES
    }
    let delay = (try? exchange.request.get())?.options.delay(with: exchange.fault) ?? .zero
    if delay > .zero {
      exchange.phase = .waiting(until: exchange.now + delay)
      if site.suspensions.suspend(exchange.connection, for: delay) { return .YES }
    }
    return answer(exchange)
  case .waiting(let end)?:
    let left = end - exchange.now
    if left > .zero, site.suspensions.suspend(exchange.connection, for: left) { return .YES }
    return answer(exchange)
  case .answered?: return .NO
  }
}

private func answer(_ exchange: DemoExchange) -> MHD_Result {
  exchange.reply = exchange.site.reply(to: exchange)
  exchange.phase = .answered
  // The rate has already delayed a received body.
  if exchange.body.size > 0 { exchange.pace = Pace(rate: nil) }
  let response = MHD_create_response_from_callback(
    UInt64(exchange.reply.length), 64 << 10, readContent, Unmanaged.passRetained(exchange).toOpaque()
  ) { context in
    guard let context else { return }
    Unmanaged<DemoExchange>.fromOpaque(context).release()
  }
  guard let response else {
    Unmanaged.passUnretained(exchange).release()
    return .NO
  }
  for header in exchange.reply.headers { MHD_add_response_header(response, header.name, header.value) }
  let result = MHD_queue_response(exchange.connection.pointer, UInt32(exchange.reply.status), response)
  MHD_destroy_response(response)
  return result
}

private func readContent(
  _ context: UnsafeMutableRawPointer?, _ offset: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ count: Int
) -> Int {
  guard let context else { return opdash_mhd_end_with_error() }
  let exchange = Unmanaged<DemoExchange>.fromOpaque(context).takeUnretainedValue()
  exchange.site.turns.add(1, ordering: .relaxed)
  return exchange.send(at: Int(offset), into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
}
