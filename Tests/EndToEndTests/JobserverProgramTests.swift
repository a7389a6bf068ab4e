import Foundation
import Support
import Testing

/// Real makes that share the slots of a run, and a run within a make.
struct JobserverProgramTests {
  private let place: Workplace

  /// A recipe notes its begin and its end, each by one write.
  private static let makefile = """
    N := 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24
    all: $(N:%=t%)
    t%:
    \t@echo + >>log; sleep 0.02; echo - >>log
    held: $(N:%=h%)
    h%:
    \t@echo + >>held; sleep 600
    outer:
    \t+@"$$OPDASH" run jobs.yml --ui plain --slots 8
    outer2:
    \t@echo + >>log; sleep 0.2; echo - >>log
    """

  private static let others = (1...4).map { number in
    "o\(number): 'for i in 1 2 3 4 5; do echo + >>log; sleep 0.02; echo - >>log; done'"
  }.joined(separator: "\n  ")

  init() throws { place = try Workplace(files: ["Makefile": Self.makefile]) }

  /// The greatest number of recipes and commands at once, by what they have noted.
  private func most(in file: String = "log") throws -> Int {
    var (now, most) = (0, 0)
    for line in String(decoding: try #require(place.contents(file)), as: UTF8.self).split(separator: "\n") {
      now += line == "+" ? 1 : -1
      most = max(most, now)
    }
    #expect(now == 0)
    return most
  }

  @Test func aMakeAndOtherJobsNeverHaveMoreThanTheSlots() throws {
    try place.write("jobs:\n  make: { run: make all, jobserver: true }\n  \(Self.others)\n", to: "jobs.yml")
    let run = try place.run("run", "jobs.yml", "--slots", "3", "--ui", "plain")
    #expect(run.ending() == .exited(0), "\(run.outputText)")
    #expect(try most() == 3)
    #expect(!run.outputText.contains("jobserver"))
  }

  /// Two makes, one of which is ended while it has all the tokens that there are.
  @Test func theTokensOfAMakeThatIsKilledComeBack() throws {
    try place.write(
      """
      jobs:
        held: { run: make held, jobserver: true, timeout: 300s, allow_failure: true }
        kill: { run: "while [ $(wc -l <held || echo 0) -lt 3 ]; do sleep 0.02; done; pkill -KILL -xf 'make held'; true" }
        make: { needs: { held: finished }, run: make all, jobserver: true }
      """, to: "jobs.yml")
    let run = try place.script("touch held; \"$OPDASH\" run jobs.yml --slots 4 --ui plain")
    #expect(run.ending() == .exited(0), "\(run.outputText)")
    #expect(try most() == 4)
  }

  @Test func aRunWithinAMakeTakesPartInItsJobserver() throws {
    try place.write("jobs:\n  make: { run: make all, jobserver: true }\n  \(Self.others)\n", to: "jobs.yml")
    let run = try place.script("make -j3 outer outer2 2>&1")
    #expect(run.ending() == .exited(0), "\(run.outputText)")
    // Make prints a message where tokens are missing at its end, or are too many.
    #expect(!run.outputText.contains("token") && !run.outputText.contains("jobserver"), "\(run.outputText)")
    #expect((2...3).contains(try most()))
  }

  @Test func aFIFOHasAPathThatLastsAsLongAsTheRun() throws {
    try place.write(
      "jobs: { a: { run: 'echo \"$MAKEFLAGS\"; p=${MAKEFLAGS##*fifo:}; test -p \"$p\" && echo \"$p\" >path', jobserver: fifo } }",
      to: "jobs.yml")
    let run = try place.script("\"$OPDASH\" run jobs.yml --slots 5 --ui plain; test -e \"$(cat path)\" || echo gone")
    #expect(run.ending() == .exited(0))
    #expect(run.outputText.contains(" -j5 --jobserver-auth=fifo:"))
    #expect(run.outputText.contains("gone"))
  }
}
