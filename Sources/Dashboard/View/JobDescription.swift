import Basics
import JobModel
import Screen

/// The description of one job as lines, for the detail pane and the zoomed page.
struct JobDescription {
  let id: JobID
  let model: Model
  let theme: Theme
  let now: Duration

  private var state: StateClass { model.index.classes[id.index] }
  private var record: JobRecord { model.run.jobs[id.index] }

  /// A job's command or address in one line; shown and copied without the credentials in a URL.
  static func subject(_ work: JobWork) -> String {
    switch work {
    case .shell(let shell): shell.summary
    case .download(let download): download.url.maskedURL
    case .upload(let upload): upload.url.maskedURL
    case .simulate(let work): "\(Format.stretch(work.duration)) in \(Format.count(work.steps, "step"))"
    case .operation(let work): work.className
    }
  }

  func lines(width: Int) -> [[TextSpan]] {
    // Work and history at the left, needs and dependents at the right, where both fit.
    let isWide = width >= Self.sideBySideFrom
    let half = isWide ? (width - 3) / 2 : width
    let left = work(half) + attempts(half) + log(half) + times(half)
    guard isWide else { return status(width) + left + links(width) }
    return status(width) + left.beside(links(width - half - 3), at: half + 3)
  }

  private static let sideBySideFrom = 76

  private func links(_ width: Int) -> [[TextSpan]] {
    links("Part of", record.job.parent.map { [($0, nil)] } ?? [], width)
      + links("Parts", record.children.reversed().map { ($0, nil) }, width)
      + links("Needs", needs, width) + links("Needed by", record.dependents.map { ($0, nil) }, width) + losses(width)
  }

  /// The needed jobs; of many, the unmet needs come first.
  private var needs: [(JobID, String?)] {
    let needs = model.run.knownNeeds(of: id)
    func isMet(_ need: JobNeed) -> Bool { need.when.isMet(by: model.run.jobs[need.job.index].state) }
    let ordered = needs.count > 12 ? needs.filter { !isMet($0) } + needs.filter(isMet) : needs
    return ordered.map { ($0.job, $0.when.phrase) }
  }

  private func status(_ width: Int) -> [[TextSpan]] {
    let words = StatusText(id, model.run, now: now)
    var lines = wrapped(record.job.name, width, theme.bold, indent: 2)
    lines[0][0] = TextSpan(theme.letter(state) + " ", theme.style(state))
    var text = words.whole
    if let elapsed = record.elapsed(at: now), record.state.isActive || state.isTerminal, state != .skipped {
      text += record.state.isActive ? ", for \(Format.time(elapsed))" : ", took \(Format.stretch(elapsed))"
    }
    lines += wrapped(text, width, theme.wordStyle(state), indent: 2, most: .max)
    if state == .executing, let share = record.progress?.fraction, width > 20 {
      let bar = Bar(theme: theme).determinate(share, width: min(72, width - 8), style: theme.style(state))
      lines.append([TextSpan("  ")] + bar + [TextSpan(" " + Format.percent(share), theme.wordStyle(state))])
    }
    return lines + warnings(width) + speed(width) + usual(width) + slack()
  }

  /// Each warning with its advice, and the name to silence it by.
  private func warnings(_ width: Int) -> [[TextSpan]] {
    model.run.warnings(about: id).flatMap { warning in
      var lines = wrapped(warning.evidence, width, theme.held, indent: 4, most: .max)
      if !lines.isEmpty { lines[0][0] = TextSpan("  \(theme.warningMark) ", theme.held) }
      return lines + wrapped("\(warning.advice) (\(warning.kind.rawValue))", width, theme.dim, indent: 4, most: .max)
    }
  }

  /// The rate, its history and the time left; of the last attempt if none executes.
  private func speed(_ width: Int) -> [[TextSpan]] {
    guard let unit = record.progress?.unit else { return [] }
    var spans = [TextSpan("  ")]
    if let rate = record.rate(at: now) {
      spans.append(TextSpan(Format.rate(rate, unit) + " ", theme.bold))
    } else if let top = record.rates.samples.max() {
      spans.append(TextSpan("at most \(Format.rate(Double(top), unit)) ", theme.dim))
    } else {
      return []
    }
    let left = record.remaining(at: now).map { " \(Format.countdown($0)) left" } ?? ""
    let room = min(RateHistory.capacity, width - spans.width - left.count - 1)
    let picture = Sparkline.text(record.rates.samples, width: room, isASCII: theme.traits.isASCII)
    return [spans + [TextSpan(picture, theme.style(.executing)), TextSpan(left, theme.dim)]]
  }

  /// How long the job usually takes, the time left, and whether it is flaky.
  private func usual(_ width: Int) -> [[TextSpan]] {
    guard let usual = record.usual(at: now) else { return [] }
    var text = UsualText.whole(usual)
    if record.remaining(at: now) == nil, let left = record.timeLeft(at: now) { text += ", \(left.text)" }
    return wrapped(text, width, theme.dim, indent: 2)
      + (UsualText.flaky(usual).map { wrapped($0, width, theme.wordStyle(.backingOff), indent: 2) } ?? [])
  }

  /// The slack: how much later the job could end without delaying the run.
  private func slack() -> [[TextSpan]] {
    guard !state.isTerminal, let forecast = model.path.forecast, let slack = forecast.slack(id) else { return [] }
    guard !model.path.onChain.contains(id) else {
      return [[TextSpan("  " + theme.critical + " critical: the run waits for it", theme.accent)]]
    }
    return [[TextSpan("  \(PathForecast.text(slack: slack)) of slack", theme.dim)]]
  }

  private func work(_ width: Int) -> [[TextSpan]] {
    let job = record.job
    var lines: [[TextSpan]] = []
    switch job.work {
    case .shell(let shell):
      lines += titled("run", shell.summary, width)
      if let directory = shell.directory { lines += titled("in", directory, width) }
    case .download(let download):
      lines += titled("get", download.url.maskedURL, width)
      lines += titled("to", download.file, width)
    case .upload(let upload):
      lines += titled(upload.method.lowercased(), upload.file, width)
      lines += titled("to", upload.url.maskedURL, width)
    case .simulate:
      lines += titled("simulate", Self.subject(job.work), width)
    case .operation(let work):
      lines += titled("class", work.className, width)
      lines += titled("tracked", work.note, width)
    }
    var terms: [String] = []
    if job.priority != .normal { terms.append("priority \(job.priority.rawValue)") }
    for (pool, units) in job.uses.sorted(by: { $0.key < $1.key }) { terms.append("\(pool) \(units)") }
    if let timeout = job.timeout { terms.append("timeout \(Format.time(timeout))") }
    if job.retry.max > 0 { terms.append("up to \(Format.tries(job.retry.max + 1))") }
    if job.allowFailure { terms.append("may fail") }
    if let pid = record.attempt?.pid, record.state.isActive { terms.append("pid \(pid)") }
    if let cluster = job.cluster { lines += titled(ClusterRequest.word, Self.words(cluster, record.place), width) }
    if !terms.isEmpty { lines += titled("with", terms.joined(separator: ", "), width) }
    if let reason = record.reason { lines += titled("because", reason, width) }
    if let earlier = record.restored {
      let before = model.run.start.map { Duration.seconds($0.at.timeIntervalSince(earlier.at)) } ?? .zero
      lines += titled("done", "in run \(earlier.run), \(Format.stretch(before)) before this run", width)
    }
    return [[]] + lines
  }

  /// The number and nodes of a cluster job, and the resources that it asks for.
  private static func words(_ request: ClusterRequest, _ place: ClusterPlace?) -> String {
    var parts: [String] = []
    if let place { parts.append("job \(place.id)" + (place.nodes.map { " on \($0)" } ?? "")) }
    if let cpus = request.cpus { parts.append(Format.count(cpus, "CPU")) }
    if let memory = request.memory { parts.append(memory == 0 ? "all memory of the node" : "\(memory) MiB") }
    if let gpus = request.gpus { parts.append(Format.count(gpus, "GPU")) }
    if let nodes = request.nodes { parts.append(Format.count(nodes, "node")) }
    if let time = request.time { parts.append("at most \(Format.time(time))") }
    let texts = [
      ("name", request.name), ("partition", request.partition), ("account", request.account), ("qos", request.qos),
      ("constraint", request.constraint),
    ]
    for case (let name, let value?) in texts { parts.append("\(name) \(value)") }
    return parts.isEmpty ? "not submitted yet" : (parts + request.options).joined(separator: ", ")
  }

  /// The log file of the newest output; an attempt without output has no file.
  private func log(_ width: Int) -> [[TextSpan]] {
    let log = record.log
    // Notes of opdash are not written to the file.
    guard let place = (0..<log.count).last(where: { log[$0].line.stream != .note }),
      let path = model.run.logPath(id, attempt: log[place].attempt)
    else { return [] }
    return titled("log", theme.elision.middle(path, to: max(12, width - 9)), width)
  }

  /// The jobs that would be skipped if this one were cancelled.
  private func losses(_ width: Int) -> [[TextSpan]] {
    let skipped = model.run.skipped(byCancelling: id)
    guard !skipped.isEmpty else { return [] }
    var lines = [
      [], [TextSpan("Cancelling it skips", theme.accent.with(.bold)), TextSpan(" \(skipped.count)", theme.dim)],
    ]
    let names = skipped.prefix(8).map { model.run.jobs[$0.index].job.name }
    lines += wrapped(names.joined(most: 8, of: skipped.count), width, .plain, indent: 2)
    return lines
  }

  private func attempts(_ width: Int) -> [[TextSpan]] {
    guard let number = record.attempt?.number else { return [] }
    // A job that was retried all night has hundreds.
    let shown = record.attempts.suffix(6)
    var lines = [[], heading("Attempts", number > 1 ? "\(number)" : nil)]
    for attempt in shown {
      var what: TextSpan
      if let failure = attempt.failure {
        what = TextSpan(failure.reason, theme.wordStyle(.failed))
      } else if attempt.endedAt == nil {
        what = TextSpan(state.word, theme.wordStyle(state))
      } else if let stop = attempt.stop {
        what = TextSpan(stop.rawValue, theme.wordStyle(.cancelled))
      } else {
        what = TextSpan("ok", theme.wordStyle(.succeeded))
      }
      let end = attempt.endedAt ?? max(now, attempt.startedAt)
      let took = Format.stretch(end - attempt.startedAt)
      // The newest failure is whole in the first lines.
      what.text = theme.elision.end(what.text, to: max(4, width - 24))
      lines.append([
        TextSpan("  \(attempt.number) ".padded(to: 5), theme.dim),
        TextSpan("at \(Format.time(attempt.startedAt)) ".padded(to: 10), theme.dim),
        .blanks(7 - took.count), TextSpan(took + "  "), what,
      ])
    }
    return lines
  }

  /// The time that the job has spent in each kind of state.
  private func times(_ width: Int) -> [[TextSpan]] {
    let kinds: [(kind: Phase.Kind, style: Style)] = [
      (.waiting, theme.dim), (.forSlot, theme.dim), (.forPool, theme.dim), (.forPerson, theme.dim),
      (.forCluster, theme.dim), (.backingOff, theme.style(.backingOff)),
      (.paused, theme.held), (.executing, theme.style(.executing)),
    ]
    let all = kinds.map { (name: $0.kind.phrase, time: record.spent($0.kind, until: now), style: $0.style) }
    let shown = all.filter { $0.time >= .milliseconds(50) }
    guard !shown.isEmpty else { return [] }
    let longest = shown.map(\.time).max() ?? .zero
    let names = max(18, shown.map(\.name.count).max() ?? 0)
    let room = max(0, min(40, width - 12 - names))
    return [[], heading("Time", nil)]
      + shown.map { part in
        let cells = Int(clamping: part.time / longest * Double(room))
        let bar = String(repeating: theme.pick("▬", "="), count: max(room > 0 ? 1 : 0, cells))
        return [
          TextSpan("  "), TextSpan(part.name.padded(to: names), theme.dim),
          .blanks(8 - Format.stretch(part.time).count),
          TextSpan(Format.stretch(part.time) + " "), TextSpan(bar, part.style),
        ]
      }
  }

  private func links(_ title: String, _ jobs: [(JobID, String?)], _ width: Int) -> [[TextSpan]] {
    guard !jobs.isEmpty else { return [] }
    var lines = [[], heading(title, jobs.count > 1 ? "\(jobs.count)" : nil)]
    for (job, condition) in jobs.prefix(12) {
      let state = model.index.classes[job.index]
      var word = state.word
      if case .skipped(let cause) = model.run.jobs[job.index].state { word = cause.word }
      let note = [condition, word].compactMap(\.self).joined(separator: ", ")
      let name = theme.elision.name(model.run.jobs[job.index].job.name, to: max(6, width - 6 - note.count))
      lines.append([
        TextSpan("  \(theme.letter(state)) ", theme.style(state)), TextSpan(name), TextSpan("  \(note)", theme.dim),
      ])
    }
    if jobs.count > 12 { lines.append([TextSpan("    and \(jobs.count - 12) more", theme.dim)]) }
    return lines
  }

  private func heading(_ text: String, _ count: String?) -> [TextSpan] {
    [TextSpan(text, theme.accent.with(.bold))] + (count.map { [TextSpan(" " + $0, theme.dim)] } ?? [])
  }

  private func titled(_ title: String, _ text: String, _ width: Int) -> [[TextSpan]] {
    var lines = wrapped(text, width, .plain, indent: 9)
    if !lines.isEmpty { lines[0][0] = TextSpan(title.padded(to: 9), theme.dim) }
    return lines
  }

  /// At most `most` rows: a script may have many lines, which are in the job file.
  private func wrapped(
    _ text: String, _ width: Int, _ style: Style, indent: Int, most: Int = 4
  ) -> [[TextSpan]] {
    let flat = JobText(text.split(whereSeparator: \.isNewline).joined(separator: " ; ")).plain
    let room = max(4, width - indent)
    let rows = Self.wordWrapped(flat, width: room)
    return rows.prefix(most).enumerated().map { number, row in
      let isClipped = number == most - 1 && rows.count > most
      let line = isClipped ? theme.elision.end(row + "   ", to: min(room, TextWidth.of(row) + 1)) : row
      return [.blanks(indent), TextSpan(line, style)]
    }
  }

  /// Breaks text between words, and within words that are longer than a line.
  static func wordWrapped(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      var word = String(word)
      let joined = line.isEmpty ? word : line + " " + word
      if TextWidth.of(joined) <= width {
        line = joined
        continue
      }
      if !line.isEmpty { lines.append(line) }
      while TextWidth.of(word) > width {
        let head = Elision.prefix(word, width)
        guard !head.isEmpty else { break }
        lines.append(head)
        word.removeFirst(head.count)
      }
      line = word
    }
    return lines + [line]
  }
}
