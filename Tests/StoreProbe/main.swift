import Foundation
import JobModel
import RunStore
import Support

// A program that records made-up runs, for tests that kill it, or have several of them write to one store.
//
//     store-probe STATE RUN JOBS PAUSE    records a run of so many jobs, each with its output and a pause in microseconds

guard CommandLine.arguments.count == 5, let jobs = Int(CommandLine.arguments[3]),
  let pause = UInt32(CommandLine.arguments[4])
else {
  print("usage: store-probe STATE RUN JOBS PAUSE")
  exit(2)
}

let state = CommandLine.arguments[1]
let feed = FakeFeed()
let origin = RunOrigin(command: "run", directory: state, slots: 1, onFailure: "keep-going")
let long = Duration.seconds(Patience.seconds)
var limits = RunRecorder.Limits()
// A busy machine may execute no other program while one of eight has the lock.
(limits.patience, limits.startPatience, limits.endPatience) = (long, long, long)
let recorder = RunRecorder(folder: state, origin: origin, limits: limits)
recorder.whenLost { print("lost: \($0)") }
recorder.start(feed)
feed.post(
  .runStarted(RunStart(id: CommandLine.arguments[2], name: "probe", slots: 1, at: Date(), jobs: jobs)))
for index in 0..<jobs {
  feed.post(.jobAdded(JobID(index), Job(name: "job\(index)", work: .simulate(SimulatedWork()))))
}
let begin = Date()
for index in 0..<jobs {
  let id = JobID(index)
  let now = Duration.seconds(Date().timeIntervalSince(begin))
  feed.post(.jobState(id, .executing, attempt: 1, pid: nil), at: now)
  for line in 0..<5 { feed.post(.jobLog(id, attempt: 1, LogLine(.stdout, "line \(line) of job \(index)"))) }
  feed.post(.jobState(id, .succeeded(upToDate: false), attempt: 1, pid: nil))
  if pause > 0 { usleep(pause) }
}
feed.post(.runFinished(RunSummary(of: feed.run)))
print(recorder.finish(within: .seconds(Patience.seconds)) ? "recorded" : "not recorded")
