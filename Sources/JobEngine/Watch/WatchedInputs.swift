import Basics
import JobModel

// The watch over the files that jobs read; on the stream's queue.
extension JobQueue {
  /// The clock of files steps by so much, at most.
  private static let tick: Duration = .milliseconds(10)

  /// A watch that begins now and reports to this run.
  func makeWatch() -> InputWatch {
    let jobs = graph.jobs.enumerated().compactMap { index, job -> InputWatch.Job? in
      guard !job.inputs.isEmpty, job.finally == nil, case .shell(let work) = job.work else { return nil }
      return InputWatch.Job(
        id: JobID(index), inputs: job.inputs.map { BytePath($0) }, creates: job.creates.map { BytePath($0) },
        directory: work.directory.map { BytePath($0) })
    }
    return InputWatch(jobs, rules: graph.watch, hashes: fileHashes, clock: stream.clock) { [weak self] report in
      guard let self else { return }
      stream.deliveries.deliverNow {
        self.enter {
          switch report {
          case .success(let changes): $0.inputsChanged(changes)
          case .failure(let fault): $0.endWatch(because: fault)
          }
        }
      }
    }
  }

  /// Leaves out changes that a job's newest attempt has seen, as the products of the jobs that it needs are.
  private func inputsChanged(_ changes: [JobID: InputWatch.Change]) {
    let (now, clockNow, systemNow) = (stream.elapsed, stream.clock.now, systemTime())
    var new: [JobID: InputChange] = [:]
    for (id, change) in changes {
      let record = stream.journal.run[id]
      guard let attempt = record.attempt else {
        new[id] = InputChange(path: change.path)
        continue
      }
      func systemTime(of time: Duration) -> Duration { systemNow - (now - time) }
      if record.job.service != nil {
        // Its inputs have no stated hash: changes from before its start do not count.
        if change.time > systemTime(of: attempt.startedAt) {
          new[id] = InputChange(path: change.path, mayBeOwn: true)
        }
      } else if change.hash == nil || change.hash != record.inputsHash {
        let end = attempt.endedAt ?? now
        let times = systemTime(of: attempt.startedAt) - Self.tick...systemTime(of: end) + Self.tick
        let isLate = change.noticed.map { now - (clockNow - $0) > end } ?? false
        let mayBeOwn = !times.contains(change.time) ? false : isLate ? nil : true
        new[id] = InputChange(path: change.path, mayBeOwn: mayBeOwn)
      }
    }
    scheduler.handle(.inputsChanged(new))
  }
}
