import Foundation
import JobModel

/// The documents of `--json`: one object or list, with the names of the events' fields and times in seconds.
package enum RecordedJSON {
  /// The jobs of a graph, each with the fields of `job_added`.
  package static func list(_ graph: JobGraph) -> [UInt8] { document(EventWriter.objects(of: graph.jobs)) }

  package static func report(_ run: Run) -> [UInt8] {
    let figures = RunFigures(run)
    func job(_ id: JobID) -> JSONObject {
      [
        "job": run[id].job.name, "took": run[id].spent(.executing, until: figures.end),
        "tries": run[id].attempt?.number,
      ]
    }
    let chain = figures.chain.map { link -> JSONObject in
      ["job": run[link.job].job.name, "share": link.share, "executing": link.executing, "waited": link.waited]
    }
    let waits = figures.waits.map { wait -> JSONObject in
      [
        "for": wait.kind.phrase, "total": wait.total, "jobs": wait.jobs, "longest": wait.longest.time,
        "longest_job": run[wait.longest.job].job.name,
      ]
    }
    let failed = figures.failed.map { id -> JSONObject in
      guard case .failed(let failure, let isAllowed) = run[id].state else { return job(id) }
      return job(id) + [
        "reason": failure.reason, "exit": failure.exit, "cause": failure.cause.word, "allowed": isAllowed ? true : nil,
        "log": run[id].attempt.flatMap { run.logPath(id, attempt: $0.number) },
      ]
    }
    let slots: JSONObject = [
      "slots": figures.slotCount, "mean": figures.meanBusy, "peak": figures.slots.peak,
      "busy": figures.slots.busyTime,
    ]
    let report: JSONObject =
      [
        "run": run.start?.id, "name": run.start?.name, "at": run.start?.at.eventText, "resumes": run.start?.resumes,
        "length": run.length, "jobs": run.jobs.count, "finished": run.summary != nil,
      ] + object(run.summary ?? RunSummary(of: run)) + [
        "critical_path": chain, "slot_use": slots, "waits": waits, "slowest": figures.slowest.map(job),
        "flaky": figures.flakiest.map(job), "failures": failed,
      ]
    return document(report)
  }

  package static func diff(_ diff: RunDiff) -> [UInt8] {
    func change(_ change: RunDiff.Change) -> JSONObject {
      ["job": change.name, "before": change.before, "after": change.after]
    }
    func ending(_ ending: RunDiff.Ending) -> JSONObject { ["job": ending.name, "reason": ending.text] }
    let (before, after) = diff.runs
    let object: JSONObject = [
      "before": ["run": before, "length": diff.total.before] as JSONObject,
      "after": ["run": after, "length": diff.total.after] as JSONObject,
      "newly_failed": diff.newlyFailed.map(ending), "fixed": diff.fixed.map(ending),
      "no_longer_done": diff.notDone.map(ending), "slower": diff.slower.map(change), "faster": diff.faster.map(change),
      "added": diff.added, "removed": diff.removed,
    ]
    return document(object)
  }

  package static func history(_ table: HistoryTable) -> [UInt8] {
    let runs = table.runs.map { run -> JSONObject in
      [
        "run": run.id, "name": run.name, "at": run.startedAt.eventText, "ended_at": run.endedAt?.eventText,
        "running": run.isGoingOn ? true : nil, "length": run.length, "jobs": run.jobs,
      ] + (run.summary.map(object) ?? [:])
    }
    let jobs = table.jobs.map { job -> JSONObject in
      let usual = UsualTime(job.ends)
      return [
        "job": job.name, "p50": usual?.median, "p90": usual?.ninetieth, "succeeded": job.count(.succeeded),
        "failed": job.count(.failed), "flaky": usual.flatMap(UsualText.flaky) == nil ? nil : true,
      ]
    }
    let document: JSONObject = ["runs": runs, "jobs": table.jobs.isEmpty ? nil : jobs]
    return self.document(document)
  }

  private static func object(_ summary: RunSummary) -> JSONObject {
    [
      "succeeded": summary.succeeded, "failed": summary.failed, "allowed": summary.allowed,
      "skipped": summary.skipped, "cancelled": summary.cancelled, "left": summary.left, "exit": summary.exit,
    ]
  }

  private static func document(_ value: some JSONValue) -> [UInt8] {
    var bytes: [UInt8] = []
    value.append(to: &bytes)
    return bytes + [UInt8(ascii: "\n")]
  }
}
