import JobModel

/// Writes one JSON object per event and line, as the events reference describes.
package struct JSONReport: Report {
  private let write: ReportWriter
  private var writer = EventWriter()
  private var lines: [UInt8] = []

  package init(write: @escaping ReportWriter) { self.write = write }

  package mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    writer.append(event, to: &lines)
  }

  package mutating func flush() { lines.flush(to: write) }
}

/// An object whose fields keep their order; a field that is nil is left out.
struct JSONObject: JSONValue, ExpressibleByDictionaryLiteral {
  private var fields: [(name: String, value: (any JSONValue)?)]

  init(dictionaryLiteral fields: (String, (any JSONValue)?)...) { self.fields = fields }

  static func + (left: JSONObject, right: JSONObject) -> JSONObject {
    var sum = left
    sum.fields += right.fields
    return sum
  }

  func append(to bytes: inout [UInt8]) { bytes.append(object: fields) }
}
