import JobModel

/// Finds the jobs of `${jobs.NAME.VALUE}`, and checks that they have ended when the value is asked for.
struct OutputResolver {

  /// A job whose value is used by one that doesn't need it directly.
  private struct Question {
    var user: Int
    var writer: Int
    var use: OutputUse
  }

  /// Steps along needs, in a whole file; a value used beyond them needs a direct need.
  private static let stepLimit = 500_000_000

  private let drafts: [JobDraft]
  private let needs: [[JobNeed]]
  private let faults: FaultLog
  private let variables: Variables
  private let index: JobNameIndex

  init(_ drafts: [JobDraft], _ needs: [[JobNeed]], _ values: ValueReader) {
    self.drafts = drafts
    self.needs = needs
    faults = values.faults
    variables = values.variables
    let isUsed = drafts.contains { !$0.outputs.isEmpty }
    index = JobNameIndex(isUsed ? drafts.map { ($0.job.name, $0.job.matrix) } : [])
  }

  /// The references of each job; with `hasCycle`, which is reported, it isn't checked what needs what.
  func resolve(hasCycle: Bool) -> [[OutputReference]] {
    var questions: [Question] = []
    let outputs = drafts.indices.map { number -> [OutputReference] in
      if drafts[number].outputs.isEmpty { return [] }
      let direct = Set(needs[number].map(\.job.index))
      return drafts[number].outputs.compactMap { use -> OutputReference? in
        guard !faults.isCut, let writer = writer(of: use, for: number) else { return nil }
        let isNeeded = drafts[number].job.finally != nil && drafts[writer].job.finally == nil
        if !isNeeded, !direct.contains(writer) {
          questions.append(Question(user: number, writer: writer, use: use))
        }
        return OutputReference(use.text, job: JobID(writer), name: use.value)
      }
    }
    if !hasCycle { check(questions) }
    return outputs
  }

  /// The job that writes a value; nil after a fault.
  private func writer(of use: OutputUse, for number: Int) -> Int? {
    let user = drafts[number]
    let shown = Quoted.text(use.text)
    guard let writer = index.job(named: use.job) else {
      variables.report("\(shown): \(unknown(use))", of: use)
      return nil
    }
    if writer == number {
      variables.report("\(shown) is a value of this job itself: a job reads only values of jobs that it needs", of: use)
      return nil
    }
    if user.job.finally == nil, drafts[writer].job.finally != nil {
      variables.report(
        "\(shown) is a value of a job of 'finally', which runs after all others: use it in 'finally' only", of: use)
      return nil
    }
    if user.job.finally == nil, let service = drafts[writer].job.service, service.probe == nil {
      variables.report(
        "\(shown) is a value of a service that counts as ready before it can have written it: give it 'service.ready'",
        of: use)
      return nil
    }
    return drafts[writer].hasBrokenMatrix ? nil : writer
  }

  private func unknown(_ use: OutputUse) -> String {
    let name = Quoted.text(use.job)
    if let instances = index.instances(of: use.job) {
      let one = Quoted.bare("${jobs.\(drafts[instances[0]].job.name).\(use.value)}")
      return "\(name) has a matrix: name one instance, as in '\(one)'"
    }
    // `jobs.build.outputs.path` of GitHub Actions.
    if use.job.hasSuffix(".outputs"), index.job(named: String(use.job.dropLast(8))) != nil {
      return "there is no job \(name): write '${jobs.\(Quoted.bare(String(use.job.dropLast(8)))).\(use.value)}'"
    }
    let names = drafts.lazy.map(\.job.name).prefix(10_000)
    return
      "there is no job \(name)\(NearestName.hint(for: use.job, in: names, otherwise: ": add it, or write the value"))"
  }

  /// Checks that users need writers through other jobs, for 64 writers in one pass over all jobs.
  private func check(_ questions: [Question]) {
    guard !questions.isEmpty else { return }
    let order = DependencyOrder(of: needs).order
    let passLength = drafts.count + needs.reduce(0) { $0 + $1.count }
    var steps = 0
    let byWriter = Dictionary(grouping: questions, by: \.writer)
    let writers = byWriter.keys.sorted()
    for start in stride(from: 0, to: writers.count, by: UInt64.bitWidth) {
      let batch = writers[start..<min(start + UInt64.bitWidth, writers.count)]
      steps += passLength
      // The bit of each writer that the job needs, or is.
      var marks = [UInt64](repeating: 0, count: drafts.count)
      if steps <= Self.stepLimit {
        for (bit, writer) in batch.enumerated() { marks[writer] = 1 << bit }
        for job in order {
          for need in needs[job] { marks[job] |= marks[need.job.index] }
        }
      }
      for (bit, writer) in batch.enumerated() {
        for question in byWriter[writer] ?? [] where marks[question.user] & (1 << bit) == 0 {
          if faults.isCut { return }
          let name = Quoted.bare(drafts[writer].job.name)
          variables.report(
            "\(Quoted.text(question.use.text)) is a value of a job that this one doesn't need: add '\(name)' to its needs",
            of: question.use)
        }
      }
    }
  }
}
