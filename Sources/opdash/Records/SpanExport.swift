import Basics
import Dispatch
import Foundation
import JobModel
import Operations
import Reports
import Session
import Transfers

/// Sends the spans of a run to a collector of OpenTelemetry, by OTLP over HTTP with JSON.
///
/// The run never waits for the collector: one request is under way at a time, spans wait for it in bounded memory, and a
/// request that fails loses its spans.
final class SpanExport: Sendable {
  private struct State {
    /// Spans that no request has yet.
    var spans: [[UInt8]] = []
    var bytes = 0
    /// The request under way, and the number of its spans.
    var request: (operation: UploadOperation, spans: Int)?
    /// Whether all spans of the run are here.
    var isComplete = false
    var lost = 0
    var reason: String?
    var whenDone: (@Sendable (Bool) -> Void)?

    var isDone: Bool { isComplete && request == nil && spans.isEmpty }
  }

  /// The bytes of waiting spans, and the spans of one request.
  private static let limits = (bytes: 8 << 20, spans: 512)
  private let url: String
  private let thread: TransferThread
  private let patience: DispatchTimeInterval
  private let requests = OperationQueue()
  private let queue = DispatchQueue(label: "opdash.spans")
  private let state = Lock(State())

  /// `url` is a collector; without a path the path is `/v1/traces`.
  ///
  /// The end of the run waits for the collector no longer than `patience`.
  init(to url: String, thread: TransferThread = .shared, patience: DispatchTimeInterval = .seconds(2)) {
    self.url = Self.endpoint(url)
    self.thread = thread
    self.patience = patience
  }

  /// The URL that spans are sent to.
  static func endpoint(_ url: String) -> String {
    guard let scheme = url.firstRange(of: "://") else { return url }
    let rest = url[scheme.upperBound...].drop { !"/?#".contains($0) }
    return rest.isEmpty ? url + "/v1/traces" : rest == "/" ? url + "v1/traces" : url
  }

  /// Subscribes to a run that has not begun; the result lives as long as the run.
  func start(_ feed: any JobFeed) -> ReportPump {
    let pump = ReportPump(feed, reports: [OTLPReport { [weak self] in self?.send($0) }], end: .never)
    pump.start(whenEnding: {}, whenFinished: { [weak self] _ in self?.complete() })
    return pump
  }

  /// Takes spans, which are sent when the request under way has ended.
  func send(_ spans: [[UInt8]]) {
    state.withLock { state in
      for span in spans {
        guard state.bytes + span.count <= Self.limits.bytes else {
          state.lost += 1
          state.reason = "the collector is too slow"
          continue
        }
        state.bytes += span.count
        state.spans.append(span)
      }
    }
    proceed()
  }

  /// States that no more spans come.
  func complete() {
    state.withLock { $0.isComplete = true }
    proceed()
  }

  /// Waits for the spans and the collector; returns a line about lost spans, nil without any.
  ///
  /// Called once, at the end of the run.
  func finish() -> String? {
    let isDone = BlockingCall.value(within: patience) { done in
      let wasDone = state.withLock { state in
        if !state.isDone { state.whenDone = done }
        return state.isDone
      }
      if wasDone { done(true) }
    }
    return state.withLock { state in
      if isDone == nil {
        state.request?.operation.cancel()
        state.lost += state.spans.count + (state.request?.spans ?? 0)
        state.reason = state.reason ?? (state.lost > 0 ? "the collector has not answered in time" : nil)
      }
      // The run may have made more events than there was time to make spans of.
      guard state.isComplete else {
        return "the last spans were not delivered to \(url.maskedURL): \(state.reason ?? "they were not ready in time")"
      }
      guard state.lost > 0 else { return nil }
      let count = state.lost == 1 ? "1 span was" : "\(state.lost) spans were"
      return "\(count) not delivered to \(url.maskedURL): \(state.reason ?? "no reason is known")"
    }
  }

  /// Starts the next request unless one is under way, or says that all is done.
  private func proceed() {
    let (next, whenDone) = state.withLock { state -> (UploadOperation?, (@Sendable (Bool) -> Void)?) in
      guard state.request == nil, !state.spans.isEmpty else {
        return (nil, state.isDone ? state.whenDone.take() : nil)
      }
      let batch = state.spans.prefix(Self.limits.spans)
      let upload = UploadOperation(
        content: OTLPReport.document(batch), to: url, method: "POST", headers: ["Content-Type": "application/json"],
        thread: thread)
      upload.stallTimeout = .seconds(10)
      state.bytes -= batch.reduce(0) { $0 + $1.count }
      state.request = (upload, batch.count)
      state.spans.removeFirst(batch.count)
      return (upload, nil)
    }
    whenDone?(true)
    guard let next else { return }
    next.result(on: queue) { [weak self] in self?.hasEnded($0) }
    requests.addOperation(next)
  }

  private func hasEnded(_ outcome: UploadOperation.Outcome) {
    state.withLock { state in
      if case .failure(let error) = outcome {
        state.lost += state.request?.spans ?? 0
        state.reason = "\(error)"
      }
      state.request = nil
    }
    proceed()
  }
}
