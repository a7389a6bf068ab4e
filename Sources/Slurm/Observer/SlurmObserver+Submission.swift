import Foundation
import Operations

extension SlurmObserver {
  /// Schedules the submission of waiting jobs after a delay, no earlier than the pace allows.
  func requestSubmission(after delay: Duration) {
    guard submissionTimer == nil, !waiting.isEmpty else { return }
    let time = max(delay, nextSubmission - clock.now)
    submissionTimer = clock.schedule(after: time, on: queue) { [weak self] in
      self?.submissionTimer = nil
      self?.submit()
    }
  }

  /// Submits the first waiting job, and similar ones up to the limit of jobs in flight.
  private func submit() {
    guard !isSubmitting, !isControllerDown, active.count < settings.inFlight,
      let first = waiting.first(where: { !$0.isPauseWanted })
    else { return }
    let room = min(arrayLimit, settings.arraySize, settings.inFlight - active.count)
    let batch = Array(
      waiting.lazy.filter {
        !$0.isPauseWanted && $0.arrayName == first.arrayName && $0.job.resources == first.job.resources
      }.prefix(room))
    let identities = Set(batch.map(\.identity))
    waiting.removeAll { identities.contains($0.identity) }
    for followed in batch {
      followed.phase = .submitting
      active[followed.identity] = followed
    }
    nextSubmission = clock.now + settings.submissionInterval
    isSubmitting = true
    switch command(for: batch) {
    case .failure(let problem):
      isSubmitting = false
      for followed in batch { finish(followed, SlurmOutcome(.refused(problem.sentence))) }
      requestSubmission(after: .zero)
    case .success(let command):
      let began = clock.now
      runner.run(command) { [self] answer in
        queue.async { self.submitted(batch, answer, began: began) }
      }
    }
  }

  private struct Problem: Error {
    let sentence: String
  }

  /// Writes the files of a batch and returns its sbatch call.
  ///
  /// The files list the attempts before sbatch is called: if this process dies, the next one executes none of them twice.
  private func command(for batch: [FollowedJob]) -> Result<SlurmCommand, Problem> {
    if let problem = files.makeFolder() { return .failure(Problem(sentence: problem)) }
    let resources = batch[0].job.resources
    let comment: String
    var options: [String] = []
    let script: String
    var name = resources.name ?? batch[0].job.name
    if batch.count == 1 {
      if let problem = files.noteSubmission(of: batch[0].identity) { return .failure(Problem(sentence: problem)) }
      comment = batch[0].identity.comment
      script = BatchScript.text(of: batch[0].job, files: files)
    } else {
      let batchName = String(UInt64.random(in: .min ... .max), radix: 36)
      if let problem = writeFiles(of: batch, named: batchName) { return .failure(Problem(sentence: problem)) }
      let identities = batch.map(\.identity)
      batches[batchName] = identities
      name = batch[0].arrayName
      comment = SlurmIdentity.comment(ofBatch: batchName, run: run)
      options = ["--array=0-\(batch.count - 1)"]
      script = BatchScript.text(ofBatch: batchName, files: files)
    }
    for followed in batch { followed.submittedName = name }
    return .success(.submission(resources, options, name: name, comment: comment, script: script))
  }

  /// Writes the scripts first, so that a process that finds the batch finds them.
  private func writeFiles(of batch: [FollowedJob], named name: String) -> String? {
    for (index, followed) in batch.enumerated() {
      let text = BatchScript.text(of: followed.job, isInArray: true, files: files)
      if let problem = files.write(text, to: files.path(ofScript: index, batch: name)) { return problem }
    }
    let list = batch.map { $0.identity.fileName + "\n" }.joined()
    return files.write(list, to: files.path(ofBatch: name))
  }

  private func submitted(_ batch: [FollowedJob], _ answer: SlurmAnswer, began: Duration) {
    isSubmitting = false
    let shortage = Self.shortage(answer)
    // A controller that could not be reached has not received the request, and one that is full has refused it.
    if shortage == nil, !answer.error.contains("(connect failure)") {
      for followed in batch { followed.submissions += 1 }
    }
    if answer.isSuccess, let number = Self.number(in: answer.output) {
      accept(batch, number)
    } else if let shortage {
      // The cluster accepts all jobs of an array or none.
      arrayLimit = max(1, batch.count / 2)
      if batch.count == 1 { nextSubmission = clock.now + settings.fullInterval }
      if batch.count == 1 || answer.end == .timedOut { self.shortage = shortage }
      // A call that was killed may have been accepted in the end.
      if answer.end == .timedOut { for followed in batch { search(for: followed) } } else { putBack(batch) }
      if let shortage = self.shortage {
        for followed in waiting + batch where followed.phase != .ended { followed.tell(.full(shortage)) }
      }
    } else if answer.isSuccess || answer.isWithoutController {
      // The request may have reached the controller: only a later query shows it.
      for followed in batch { search(for: followed) }
      if !answer.isSuccess { controllerIsDown(since: began, answer) }
    } else if answer.error.contains("Invalid job array specification"), batch.count > 1 {
      settings.arraySize = max(1, batch.count / 2)
      putBack(batch)
    } else if case .absent(let sentence) = answer.end {
      for followed in batch {
        finish(followed, SlurmOutcome(followed.isCancelWanted ? .cancelled : .refused(sentence)))
      }
    } else {
      // sbatch may fail, or be killed, after the controller has accepted the request: a query shows it.
      for followed in batch {
        search(for: followed)
        followed.refusal = answer.fault
      }
    }
    requestControl()
    requestSubmission(after: .zero)
  }

  /// The number of a submitted job: the last line that sbatch has written, `12` or `12;cluster`.
  ///
  /// A site may have an sbatch of its own that writes more; a wrong number would be someone else's job.
  private static func number(in output: String) -> Int? {
    let line = output.lines.last { $0.contains { !$0.isWhitespace } }
    guard let number = line?.wholeMatch(of: /(\d+)(;\S+)?/).flatMap({ Int($0.1) }), number > 0 else { return nil }
    return number
  }

  private func accept(_ batch: [FollowedJob], _ number: Int) {
    if arrayLimit < settings.arraySize { arrayLimit = max(arrayLimit, batch.count * 2) }
    if batch.count > 1 { ownArrays.insert(number) }
    shortage = nil
    for (index, followed) in batch.enumerated() {
      let id = SlurmJobID(number, index: batch.count == 1 ? nil : index)
      followed.phase = .submitted
      followed.id = id
      followed.submitTime = nil
      followed.refusal = nil
      followed.since = clock.now
      followed.misses = 0
      followed.tell(.submitted(id))
    }
    requestQuery(after: .zero)
  }

  /// Searches for a job that may be in Slurm, in all queries from now on.
  func search(for followed: FollowedJob) {
    active[followed.identity] = followed
    followed.phase = .submitted
    followed.id = nil
    followed.submitTime = nil
    followed.refusal = nil
    followed.since = clock.now
    followed.misses = 0
    requestQuery(after: .zero)
  }

  /// Puts jobs back to wait for submission, in the order of the calls of `follow`.
  func putBack(_ batch: [FollowedJob]) {
    for followed in batch {
      active[followed.identity] = nil
      followed.phase = .waiting
      followed.forgetSubmission()
    }
    for followed in batch where !followed.isCancelWanted {
      waiting.insert(followed, at: waiting.firstIndex { $0.order > followed.order } ?? waiting.endIndex)
      followed.tell(shortage.map(SlurmStatus.full) ?? .waiting)
    }
    for followed in batch where followed.isCancelWanted { endCancelled(followed) }
    requestSubmission(after: .zero)
  }

  /// Slurm's sentence if it will accept the job once others have ended; nil for any other answer.
  private static func shortage(_ answer: SlurmAnswer) -> String? {
    // The general sentence on limits has other causes too, which a line before it names: "(job submit limit, user's size
    // and/or time limits)".
    let lines = answer.error.lines.filter { $0.contains { !$0.isWhitespace } }
    return answer.saysFull || lines.count == 1 && lines[0].contains("accounting/QOS policy") ? answer.errors : nil
  }
}
