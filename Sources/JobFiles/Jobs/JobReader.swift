import Basics
import JobModel

/// Reads the entries of `jobs` and of `finally`.
struct JobReader {
  let values: ValueReader
  let work: WorkReader
  /// The settings of the file.
  let policy: Shared<JobPolicy>
  /// The settings of each file with defaults, by its number.
  let defaults: [Int: Shared<JobPolicy>]
  private var matrices: MatrixReader

  private var faults: FaultLog { values.faults }

  init(values: ValueReader, policy: JobPolicy, defaults: [Int: JobPolicy]) {
    (self.values, self.policy, self.defaults) = (values, Shared(policy), defaults.mapValues { Shared($0) })
    work = WorkReader(values: values)
    matrices = MatrixReader(values: values)
  }

  /// Adds the job of an entry, or its instances if it has a matrix.
  mutating func read(_ entry: YAMLEntry, isFinal: Bool, into drafts: inout [JobDraft]) {
    defer { (values.variables.matrix, values.variables.outputs) = (nil, nil) }
    guard case .map(let keys) = entry.value.content, let matrix = keys.first(where: { $0.key == "matrix" }) else {
      return drafts.append(draft(entry, isFinal: isFinal))
    }
    var known = MatrixValues()
    guard let instances = matrices.read(matrix.value, of: entry, known: &known) else {
      values.variables.matrix = known
      var broken = draft(entry, isFinal: isFinal)
      broken.hasBrokenMatrix = true
      return drafts.append(broken)
    }
    for instance in instances {
      values.variables.matrix = instance.values
      drafts.append(draft(entry, instance: instance.name, isFinal: isFinal))
    }
  }

  /// The job of an entry, or one instance of it, with the values of other jobs that it uses.
  private func draft(_ entry: YAMLEntry, instance: String? = nil, isFinal: Bool) -> JobDraft {
    values.variables.outputs = [:]
    var draft = JobDraft(
      name: instance ?? entry.key, place: entry.place, matrix: instance.map { _ in entry.key },
      finally: isFinal ? .always : nil)
    read(entry, isFinal: isFinal, into: &draft)
    draft.applySettings(faults)
    if let outputs = values.variables.outputs, !outputs.isEmpty {
      draft.outputs = outputs.values.sorted { $0.text < $1.text }
    }
    return draft
  }

  private func read(_ entry: YAMLEntry, isFinal: Bool, into draft: inout JobDraft) {
    if let fault = JobName.fault(in: entry.key) { faults.add(entry.place, "a job's name \(fault)") }
    if entry.value.isNull {
      faults.add(entry.place, "job \(Quoted.text(entry.key)) has nothing to do: \(Self.workAdvice)")
      return
    }
    let keys = isFinal ? JobFileKeys.finalJob : JobFileKeys.job
    guard let job = keys.entries(of: JobFileKeys.whole(entry.value), faults, advice: Self.whenAdvice) else { return }
    draft.settings = defaults[entry.place.file] ?? policy
    keys.read(job, into: &draft, values)
    if let shell = job["shell"] { draft.policy.shellPlace = shell.place }
    // A service has no end that these would be the limits of.
    if draft.policy.service != nil {
      if job["timeout"] == nil { draft.policy.timeout = nil }
      if job["silence"] == nil { draft.policy.silence = nil }
    }
    let settings = draft.settings
    settings.value.check(job, faults)

    let works = job.among(JobFileKeys.work)
    guard let first = works.first else {
      if !job.hasUnknown {
        faults.add(entry.place, "job \(Quoted.text(entry.key)) has nothing to do: \(Self.workAdvice)")
      }
      return
    }
    let read = work.read(first, settings)
    for other in works.dropFirst() {
      _ = work.read(other, settings)
      faults.add(
        other.place,
        "a job has one of \(JobFileKeys.work.joined(last: "or")), and this one has '\(first.key)' already: "
          + "delete one, or make two jobs of it")
    }
    if first.key != "run", works.count == 1 {
      for key in JobFileKeys.shell {
        if let entry = job[key] {
          faults.add(entry.place, "'\(key)' is for run jobs; this is \(Self.article(first.key)): delete it")
        }
      }
    }
    if first.key == "run" || first.key == "simulate", works.count == 1, let entry = job["stall"] {
      let advice = first.key == "run" ? "write 'silence'" : "delete it"
      faults.add(entry.place, "'stall' is for transfers; this is \(Self.article(first.key)): \(advice)")
    }
    // The job would be executed here despite its `on`; its own 'tty' has been checked.
    if first.key == "run", let entry = job["on"], settings.value.engine == .cluster,
      settings.value.service == nil, job["tty"] == nil, settings.value.hasTerminal == true
    {
      faults.add(
        entry.place,
        "a job of a cluster has no terminal, and 'defaults' gives it one: write 'tty: false', or 'on: local'")
    }
    draft.work = read?.work
    draft.target = read?.target
  }

  private static let workAdvice = "give it one of \(JobFileKeys.work.joined(last: "or"))"

  private static func article(_ key: String) -> String { key == "upload" ? "an upload" : "a \(key)" }

  /// The advice for `when` in a job of `jobs`.
  private static func whenAdvice(_ entry: YAMLEntry) -> String? {
    guard entry.key == "when" else { return nil }
    guard case .scalar(let text, _) = entry.value.content,
      let end = FinalCondition(rawValue: ForeignValues.when[text] ?? text)
    else {
      return "write 'if' for a condition; 'when' is for the jobs below 'finally:'"
    }
    let need: JobNeed.Condition = [.ok: .ok, .failed: .failed, .always: .finished][end] ?? .ok
    return "it is for the jobs below 'finally:'; after one job, write 'needs: { NAME: \(need.rawValue) }'"
  }
}
