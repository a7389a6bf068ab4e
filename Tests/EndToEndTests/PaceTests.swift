import Foundation
import Support
import Testing

/// What a person feels: the time from a key to its effect, and a large run that answers all the same.
///
/// The bounds are loose, for a machine that does other things too; the true times are in the benchmarks.
@Suite struct PaceTests {
  @Test func aCancelledJobIsGoneSoonAfterTheKey() throws {
    let place = try Workplace()
    let marker = ProcessTable.marker()
    try place.write("jobs: { nap: { run: 'sleep \(marker) & sleep \(marker) & wait' } }", to: "nap.yml")
    let pty = try place.pty("run", "nap.yml", "--keep-open=always")
    #expect(pty.waitUntil(within: Workplace.patience) { _ in ProcessTable.sleepers(marker) == 2 })
    // A key acts on what is drawn.
    #expect(pty.waitUntil(within: Workplace.patience) { $0.text.contains("━━━") })
    pty.send("x")
    #expect(eventually(within: FaultHandling.isSanitized ? 20 : 2) { ProcessTable.processes(with: marker).isEmpty })
    #expect(pty.waitUntil(within: Workplace.patience) { $0.text.contains("by you") })
    pty.send("q")
    #expect(pty.waitUntil(within: Workplace.patience) { $0.ending == .exited(3) })
  }

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

  @Test func keysAreAnsweredWhileThousandsOfJobsEnd() throws {
    let place = try Workplace()
    // Long enough for a person to press keys, short enough that something ends at every moment.
    let duration = FaultHandling.isSanitized ? "240ms" : "24ms"
    let jobs = (1...10_000).map { "  job-\($0): { simulate: { duration: \(duration) } }" }
    try place.write("slots: 20\njobs:\n" + jobs.joined(separator: "\n") + "\n", to: "many.yml")
    let window = try place.window(columns: 120, rows: 40, "run", "many.yml", "--keep-open=always")
    try window.sees("a run in full swing") { $0.text.contains("RUN") && $0.text.contains("slots 20/20") }
    try window.press("?")
    try window.sees("timeline: in, out, all")
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
