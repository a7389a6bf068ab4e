import Foundation

/// The jobs of a run that the controller knows, regardless of the process that submitted them.
extension SlurmObserver {
  /// Queries the controller for every job of the run, including ended ones; `done` is called on the observer's queue.
  ///
  /// For a run that is resumed: jobs whose attempts are followed with `mayExist` are found without this call.
  package func find(_ done: @escaping @Sendable (Result<[FoundSlurmJob], SlurmFault>) -> Void) {
    runner.run(SlurmRecord.query) { [self] answer in
      queue.async {
        if answer.isWithoutController { self.controllerIsDown(since: self.clock.now, answer) }
        guard answer.isSuccess else { return done(.failure(SlurmFault(answer.fault))) }
        let records = answer.output.lines.compactMap { SlurmRecord(queueLine: $0) }
        done(
          .success(
            records.compactMap { record in
              self.identity(of: record).map { FoundSlurmJob(identity: $0, id: record.id, state: record.state) }
            }))
      }
    }
  }
}

/// The reason that Slurm could not be queried, as a sentence.
package struct SlurmFault: Error, Sendable, Equatable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
