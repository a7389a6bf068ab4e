import Foundation

/// Seconds of wall time that `body` takes.
func seconds(_ body: () throws -> Void) rethrows -> Double {
  let began = DispatchTime.now().uptimeNanoseconds
  try body()
  return Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
}

/// Seconds of this thread's processor time that `body` takes: other load on the machine matters less.
func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
  let began = threadTime()
  try body()
  return threadTime() - began
}

private func threadTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// One line for each measured value, for `Tests/Benchmarks/run` to read: the name, a tab, the value.
func tell(_ name: String, _ value: Double) { print("\(name)\t\(value)") }
