import JobModel
import Operations

/// The recording of a run: numbers each fact, folds it at once, and keeps the event until it is taken for delivery.
///
/// Confined to the serial queue of the source that states the facts.
package final class RunJournal {
  /// The run as of the newest fact.
  package private(set) var run = Run()
  /// The time of the facts that are stated now, since the run began; never decreases.
  package private(set) var now = Duration.zero
  /// The events that have not been taken.
  package private(set) var events: [JobEvent] = []
  /// Values hidden in every fact.
  package var secrets: SecretMask?

  package init() {}

  /// Advances `now` to `time`, unless `now` is already later: inputs of different threads may arrive out of order.
  ///
  /// Times are whole microseconds, as in recorded events.
  package func advance(to time: Duration) { now = max(now, time.wholeMicroseconds) }

  package func state(_ fact: JobFact) {
    let event = JobEvent(seq: run.nextSeq, time: now, fact: secrets.map(fact.masked) ?? fact)
    run.apply(event)
    events.append(event)
  }

  package func takeEvents() -> [JobEvent] {
    defer {
      // A new buffer, because the receivers have this one: not as large as after the first facts of a large run.
      let room = min(events.count, 64)
      events = []
      events.reserveCapacity(room)
    }
    return events
  }
}
