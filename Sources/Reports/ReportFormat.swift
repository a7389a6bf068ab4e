/// A format that is written to a file beside the interface.
package enum ReportFormat: String, CaseIterable, Sendable {
  case events
  case junit
  case trace

  package func report(write: @escaping ReportWriter) -> any Report {
    switch self {
    case .events: JSONReport(write: write)
    case .junit: JUnitReport(write: write)
    case .trace: TraceReport(write: write)
    }
  }

  /// How each file of the format begins.
  package var head: String {
    switch self {
    case .events: "{\"v\":"
    case .junit: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite "
    case .trace: "[\n{\"ph\":"
    }
  }
}
