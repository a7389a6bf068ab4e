import JobModel

/// The events of a recorded run, which may still be running.
package struct RecordedEvents: Sendable {
  package let run: RunEntry
  private var reader = EventReader()
  /// The number of lines that have been read.
  private var next = 0

  package init(of run: RunEntry) { self.run = run }

  /// The events that were recorded since the last call.
  package mutating func readMore(_ store: RunStore) throws -> [JobEvent] {
    var events: [JobEvent] = []
    try store.eventLines(of: run, from: next) { bytes in
      do throws(EventFault) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
          events += try line.withUnsafeBufferPointer { bytes throws(EventFault) in try reader.read(bytes) }
          next += 1
        }
      } catch {
        throw RunStoreError(.damaged("the events of run \(run.id): \(error)"), store.path)
      }
      return true
    }
    return events
  }
}

extension RunStore {
  /// All events; a killed run's end with the last commit, and jobs that wait for later ones in it are left out.
  package func events(of run: RunEntry) throws -> [JobEvent] {
    var reader = RecordedEvents(of: run)
    return try reader.readMore(self)
  }
}
