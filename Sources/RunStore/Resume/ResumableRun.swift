import Basics
import Foundation
import JobModel

/// Chooses the run that `opdash resume` continues when none is named.
package enum ResumableRun {
  /// The newest unfinished run of the job file, else its newest run; without runs of the file, of all.
  ///
  /// `entries` come newest first. Without a job file, the runs that were started in `directory` take its place. A run that
  /// was resumed counts as finished: the run that resumed it is unfinished instead, if work is left.
  package static func choose(_ entries: [RunEntry], file: String?, directory: String) -> RunEntry? {
    let continued = Set(entries.compactMap(\.resumes))
    func isSame(_ path: String?, _ other: String?) -> Bool { path.map { BytePath($0) } == other.map { BytePath($0) } }
    let here = entries.filter { file != nil ? isSame($0.origin.file, file) : isSame($0.origin.directory, directory) }
    let possible = here.isEmpty ? entries : here
    return possible.first { $0.isUnfinished && !continued.contains($0.id) } ?? possible.first
  }

  /// The runs that have resumed `entry`, directly or through each other, newest first, and `entry` itself as the last.
  ///
  /// `entries` come newest first. All of them must have ended before the work is resumed. Only the first one knows which of
  /// it is done, so that one is resumed.
  package static func line(of entry: RunEntry, in entries: [RunEntry]) -> [RunEntry] {
    var line = [entry]
    var known: Set = [entry.id]
    // A run is recorded after the one that it resumes.
    for run in entries.reversed() {
      guard let earlier = run.resumes, known.contains(earlier), known.insert(run.id).inserted else { continue }
      line.insert(run, at: 0)
    }
    return line
  }
}

/// The exclusive right of a process to resume a run, until the process ends.
package enum ResumeClaim {
  /// Whether this process holds the claim; true for a run without a folder, which nothing can claim.
  package static func take(_ entry: RunEntry) -> Bool {
    guard let folder = entry.folder else { return true }
    // A run without output has not made it.
    _ = PrivateFolder.make(folder)
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // Stays open: closing it would give the lock back.
    return descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
  }
}

extension RunStore {
  /// The run, the run that it resumed, and so on, newest first; a run that a damaged store names again ends the chain.
  package func chain(of entry: RunEntry) -> [RunEntry] {
    var chain = [entry]
    var known: Set = [entry.id]
    while let earlier = chain[chain.count - 1].resumes, let run = try? run(named: earlier),
      known.insert(run.id).inserted
    {
      chain.append(run)
    }
    return chain
  }
}

extension RunEntry {
  /// Whether the run is in progress, was killed, or ended with work left, which a signal after the last job does not leave.
  package var isUnfinished: Bool {
    guard let summary else { return true }
    let endedBySignal = summary.exit > ExitStatus.signal(0)
    return (endedBySignal ? ExitStatus.of(summary) : summary.exit) != ExitStatus.success
  }
}
