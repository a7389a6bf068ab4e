import JobModel

/// The recording of a run: numbers each fact, folds it at once, and keeps the event until it is taken for delivery.
///
/// Confined to the serial queue of the source that states the facts.
package final class RunJournal {
  /// The run as of the newest fact.
  package private(set) var run = Run()
  /// The instant of the facts that are stated now, since the run began; never decreases.
  package private(set) var now = Duration.zero
  private var events: [JobEvent] = []

  package init() {}

  /// Moves `now` to `time`, unless it is later already: inputs of different threads may arrive out of order.
  package func advance(to time: Duration) { now = max(now, time) }

  package func state(_ fact: JobFact) {
    let event = JobEvent(seq: run.nextSeq, time: now, fact: fact)
    run.apply(event)
    events.append(event)
  }

  package func takeEvents() -> [JobEvent] {
    defer { events.removeAll(keepingCapacity: true) }
    return events
  }
}
