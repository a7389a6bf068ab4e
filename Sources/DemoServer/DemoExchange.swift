import CMicrohttpd
import Foundation

/// A request and its answer; used on the library's thread.
final class DemoExchange {
  enum Phase {
    case receiving
    /// The body is complete; the answer is delayed until then.
    case waiting(until: Duration)
    case answered
  }

  let connection: LibraryPointer
  let request: Result<Request, Refusal>
  var phase: Phase?
  var method = ""
  var body = ReceivedBody()
  var pace: Pace
  var fault: Fault?
  var reply = ServerReply(status: 500)
  let site: Site
  private let began = ContinuousClock.now

  /// The time since the request arrived.
  var now: Duration { began.duration(to: .now) }

  init(_ address: String, on connection: OpaquePointer, of site: Site) {
    self.connection = LibraryPointer(pointer: connection)
    self.site = site
    request = Result { () throws(Refusal) in try Request(address) }
    pace = Pace(rate: (try? request.get())?.options.rate)
  }

  func header(_ name: String) -> String? {
    MHD_lookup_connection_value(connection.pointer, .HEADER_KIND, name).map { String(cString: $0) }
  }

  /// Takes as much of a piece of the body as the rate allows and returns the count; nil closes the connection.
  func receive(_ piece: UnsafeRawBufferPointer) -> Int? {
    let limit = allowed(piece.count, after: body.size)
    guard limit > 0 || piece.isEmpty else { return nil }
    switch pace.step(wanted: limit, at: now) {
    case .pass(let count):
      body.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      // Otherwise the library would offer the rest at once.
      if count < piece.count, count < limit { _ = site.suspensions.suspend(connection, for: .milliseconds(40)) }
      return count
    case .wait(let delay):
      return site.suspensions.suspend(connection, for: delay) ? 0 : nil
    }
  }

  /// How many of `count` bytes of a body may follow the first `sent` ones; resets the connection where the fault asks for it.
  private func allowed(_ count: Int, after sent: Int) -> Int {
    guard case .cut(let end, let byReset)? = fault else { return count }
    if byReset, count > 0, sent >= end { opdash_mhd_reset(connection.pointer) }
    return min(count, end - sent)
  }

  /// Writes the next bytes of the answer to `buffer`; returns the result of the library's content reader.
  func send(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let left = reply.length - offset
    let limit = allowed(min(buffer.count, left), after: offset)
    guard limit > 0 else { return left > 0 ? opdash_mhd_end_with_error() : opdash_mhd_end_of_stream() }
    switch pace.step(wanted: limit, at: now) {
    case .wait(let delay):
      return site.suspensions.suspend(connection, for: delay) ? 0 : opdash_mhd_end_with_error()
    case .pass(let count):
      let sent = reply.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
      if offset + sent == reply.length {
        reply.onSent?()
        reply.onSent = nil
      }
      return sent
    }
  }
}
