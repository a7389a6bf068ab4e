import Foundation
import Support
import Testing

/// A large run that answers a person; how fast, the benchmarks tell.
@Suite struct PaceTests {
  @Test func tenThousandJobsRunToTheEndInLittleMemory() throws {
    let place = try Workplace()
    let window = try place.window(columns: 120, rows: 40, "demo", "stress", "--keep-open=always")
    try window.sees("10000 of 10000 done")
    try window.sees("Ended after")
    let peak = try #require(ProcessTable.peakMemory(of: window.pid()))
    // A sanitizer's shadow is not ours.
    if !FaultHandling.isSanitized { #expect(peak < 150 << 20, "\(peak >> 20) MiB") }
    try window.press("G")
    try window.sees("sorted by attention  10000/10000")
    try window.press("q")
    #expect(try window.exitStatus() == 0)
  }

  @Test func keysAreAnsweredWhileTriesOfThousandsOfJobsEnd() throws {
    let place = try Workplace()
    // However long the keys take, the run goes on.
    let retry = "retry: { max: 1000000, backoff: constant, initial: 1ms, jitter: false }"
    let jobs = (1...10_000).map { "  job-\($0): { simulate: { duration: 24ms, fail_rate: 1 } }\n" }.joined()
    try place.write("slots: 20\ndefaults: { \(retry) }\njobs:\n\(jobs)", to: "many.yml")
    let window = try place.window(columns: 120, rows: 40, "run", "many.yml", "--keep-open=always")
    try window.sees("a run in full swing") { $0.text.contains("RUN") && $0.text.contains("slots 20/20") }
    try window.press("?")
    try window.sees("timeline: zoom in")
    try window.press("Escape", "/")
    try window.session.type("job-999")
    try window.sees("the filter's answer") { $0.text.contains("/job-999  11/10000") && $0.row("job-9999") != nil }
    try window.press("Escape")
    try window.sees("a run that is still in full swing") { $0.isWhole && $0.text.contains("slots 20/20") }
    try window.press("P")
    try window.sees("a run that has come to a halt") { $0.text.contains("DRAIN") && $0.text.contains("slots 0/20") }
    try window.press("q")
    try window.sees("Jobs are waiting.")
    try window.press("q")
    #expect(try window.exitStatus() == 3)
  }
}
