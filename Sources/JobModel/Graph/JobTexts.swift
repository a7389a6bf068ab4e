import Basics

extension JobWork {
  /// The work with each text for its program or its server replaced; `path` replaces paths.
  package func mapTexts(_ replace: (String) -> String, path: (String) -> String) -> JobWork {
    switch self {
    case .shell(var shell):
      shell.command = shell.command.mapTexts(replace)
      shell.directory = shell.directory.map(path)
      shell.environment = shell.environment.mapValues(replace)
      shell.shell = shell.shell.map(replace)
      shell.progress = shell.progress.map(replace)
      if var service = shell.service {
        service.probe = service.probe?.mapTexts(replace)
        if let alive = service.alive { service.alive?.probe = alive.probe.mapTexts(replace) }
        shell.service = service
      }
      return .shell(shell)
    case .download(var download):
      download.url = replace(download.url)
      download.file = path(download.file)
      download.headers = download.headers.mapValues(replace)
      return .download(download)
    case .upload(var upload):
      upload.url = replace(upload.url)
      upload.file = path(upload.file)
      upload.method = replace(upload.method)
      upload.headers = upload.headers.mapValues(replace)
      return .upload(upload)
    case .simulate, .operation: return self
    }
  }
}

extension Service.Probe {
  fileprivate func mapTexts(_ replace: (String) -> String) -> Self {
    switch self {
    case .url(let url): .url(replace(url))
    case .port(let host, let port): .port(host: replace(host), port)
    case .command(let command): .command(command.mapTexts(replace))
    case .output(let pattern): .output(replace(pattern))
    case .notification: .notification
    }
  }
}

extension ShellWork.Command {
  fileprivate func mapTexts(_ replace: (String) -> String) -> Self {
    switch self {
    case .script(let text): .script(replace(text))
    case .argv(let words): .argv(words.map(replace))
    }
  }
}

// MARK: Secrets

extension Job {
  /// The job as it may be shown and kept; `JobGraph.hide` masks its name, which is its identity.
  package func masked(by mask: SecretMask) -> Job {
    var job = self
    job.description = description.map(mask.masked)
    job.work = work.mapTexts(mask.masked, path: mask.masked)
    job.creates = creates.map(mask.masked)
    job.inputs = inputs.map(mask.masked)
    job.condition = condition.map { JobCondition(mask.masked($0.text), $0.alternatives) }
    job.approval = approval.map(mask.masked)
    job.retry.patterns = retry.patterns.map(mask.masked)
    if case .shell(var shell) = job.work {
      shell.clusterRequest = shell.clusterRequest.masked(by: mask)
      job.work = .shell(shell)
    }
    return job
  }
}

extension ClusterRequest {
  fileprivate func masked(by mask: SecretMask) -> ClusterRequest {
    var clusterRequest = self
    clusterRequest.name = name.map(mask.masked)
    clusterRequest.partition = partition.map(mask.masked)
    clusterRequest.account = account.map(mask.masked)
    clusterRequest.qos = qos.map(mask.masked)
    clusterRequest.constraint = constraint.map(mask.masked)
    clusterRequest.options = options.map(mask.masked)
    return clusterRequest
  }
}

extension JobGraph {
  /// Makes these values the secrets of the graph, and takes them out of the names, which files, keys and records are named by.
  ///
  /// Jobs that would have one name are numbered, as in `deploy[***]` and `deploy[***2]`.
  package mutating func hide(_ values: Set<String>) {
    secrets = values
    guard let mask = SecretMask(values) else { return }
    name = mask.masked(name)
    var taken: Set<String> = []
    var numbers: [String: Int] = [:]
    let names = jobs.map { mask.masked($0.name) }
    for (job, name) in zip(jobs, names) where job.name == name { taken.insert(name) }
    for (index, name) in names.enumerated() where jobs[index].name != name {
      var numbered = name
      while !taken.insert(numbered).inserted {
        let number = numbers[name, default: 1] + 1
        numbers[name] = number
        let end = name.ranges(of: "***").last?.upperBound ?? name.endIndex
        numbered = name[..<end] + "\(number)" + name[end...]
      }
      jobs[index].name = numbered
      jobs[index].matrix = jobs[index].matrix.map(mask.masked)
    }
  }

  /// The graph with jobs that may be shown.
  package var masked: JobGraph {
    guard let mask = SecretMask(secrets) else { return self }
    var graph = self
    graph.jobs = jobs.map { $0.masked(by: mask) }
    return graph
  }
}

extension JobFact {
  /// The fact as it may be shown and kept.
  ///
  /// The lines that a program writes are masked where they are read, before they are divided.
  package func masked(by mask: SecretMask) -> JobFact {
    switch self {
    case .jobAdded(let id, let job): return .jobAdded(id, job.masked(by: mask))
    case .jobState(let id, let state, let attempt, let pid):
      return .jobState(id, state.masked(by: mask), attempt: attempt, pid: pid)
    case .jobLog(let id, let attempt, var line) where line.stream == .note:
      line.text = mask.masked(line.text)
      return .jobLog(id, attempt: attempt, line)
    case .programLog(var line):
      line.text = mask.masked(line.text)
      return .programLog(line)
    case .clusterChanged(let fault): return .clusterChanged(fault: fault.map(mask.masked))
    case .jobCaused(let id, let attempt, let text): return .jobCaused(id, attempt: attempt, mask.masked(text))
    case .watchChanged(let isOn, let fault): return .watchChanged(isOn, fault: fault.map(mask.masked))
    case .warningRaised(var warning):
      warning.evidence = mask.masked(warning.evidence)
      return .warningRaised(warning)
    // Names are masked in the graph, and a value that holds a secret is not taken from a job.
    case .runStarted, .jobLaunched, .jobLog, .jobRestored, .inputsHashed, .jobOutputs, .jobPlaced, .jobProgress,
      .cancelRequested, .slotsChanged, .poolChanged, .arrivalsEnded, .priorityChanged, .drainChanged, .stopRequested,
      .warningCleared, .runFinished:
      return self
    }
  }
}

extension JobState {
  fileprivate func masked(by mask: SecretMask) -> JobState {
    switch self {
    case .failed(let failure, let allowed): .failed(failure.masked(by: mask), allowed: allowed)
    case .backingOff(let until, let number, let limit, let failure):
      .backingOff(until: until, number: number, limit: limit, after: failure.masked(by: mask))
    case .ready(for: .cluster(let reason)): .ready(for: .cluster(reason: reason.map(mask.masked)))
    default: self
    }
  }
}

extension JobFailure {
  fileprivate func masked(by mask: SecretMask) -> JobFailure {
    JobFailure(cause, mask.masked(reason), retryAfter: retryAfter)
  }
}
