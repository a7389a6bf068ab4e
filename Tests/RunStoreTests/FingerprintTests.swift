import JobModel
import RunStore
import Testing

@Suite struct FingerprintTests {
  private static func shell(_ change: (inout ShellWork) -> Void = { _ in }) -> Job {
    var work = ShellWork(.script("make"), directory: "/jobs", environment: ["A": "1", "B": "2"])
    change(&work)
    return Job(name: "job", work: .shell(work))
  }

  private static func download(_ change: (inout DownloadWork) -> Void = { _ in }) -> Job {
    var work = DownloadWork(url: "http://h/x", file: "/jobs/x", sha256: "00", headers: ["A": "1"])
    change(&work)
    return Job(name: "job", work: .download(work))
  }

  private static func upload(_ change: (inout UploadWork) -> Void = { _ in }) -> Job {
    var work = UploadWork(file: "/jobs/x", url: "http://h/x", headers: ["A": "1"])
    change(&work)
    return Job(name: "job", work: .upload(work))
  }

  private static func simulate(_ change: (inout SimulatedWork) -> Void = { _ in }) -> Job {
    var work = SimulatedWork(duration: .seconds(1), steps: 2, failRate: 0.5, seed: 7)
    change(&work)
    return Job(name: "job", work: .simulate(work))
  }

  @Test func anApprovalIsOfTheNameTheQuestionAndTheWork() {
    func asking(_ name: String = "job", _ question: String = "Go?", _ command: String = "make") -> Job {
      Job(name: name, work: .shell(ShellWork(.script(command))), approval: question)
    }
    let jobs = [asking(), asking("other"), asking("job", "Stop?"), asking("job", "Go?", "make all")]
    #expect(Set(jobs.map(Fingerprint.ofApproval)).count == 4)
    var later = asking()
    later.priority = .high
    #expect(Fingerprint.ofApproval(later) == Fingerprint.ofApproval(asking()))
    #expect(Fingerprint.ofApproval(Self.shell()) == nil)
  }

  @Test func allThatDecidesTheResultCounts() {
    let jobs = [
      Self.shell(), Self.shell { $0.command = .script("make all") }, Self.shell { $0.command = .argv(["make"]) },
      Self.shell { $0.command = .argv(["make", "all"]) }, Self.shell { $0.command = .argv(["make all"]) },
      Self.shell { $0.directory = "/other" }, Self.shell { $0.directory = nil },
      Self.shell { $0.environment = ["A": "1"] }, Self.shell { $0.environment = ["A": "2", "B": "1"] },
      Self.shell { $0.environment = ["A": "1B2"] },
      Self.download(), Self.download { $0.url = "http://h/y" }, Self.download { $0.file = "/jobs/y" },
      Self.download { $0.sha256 = "01" }, Self.download { $0.sha256 = nil }, Self.download { $0.headers = [:] },
      Self.download { $0.headers = ["A": "2"] }, Self.download { $0.existing = .skip },
      Self.download { $0.usesServerName = true },
      Self.upload(), Self.upload { $0.file = "/jobs/y" }, Self.upload { $0.url = "http://h/y" },
      Self.upload { $0.method = "POST" }, Self.upload { $0.headers = [:] },
      Self.simulate(), Self.simulate { $0.duration = .seconds(2) }, Self.simulate { $0.steps = 3 },
      Self.simulate { $0.failRate = 0 }, Self.simulate { $0.seed = 8 },
      Job(name: "job", work: .operation(OperationWork(className: "A", visibility: .whole))),
      Job(name: "job", work: .operation(OperationWork(className: "B", visibility: .whole))),
    ]
    #expect(Set(jobs.map(Fingerprint.of)).count == jobs.count)
  }

  @Test func whatDoesNotDecideTheResultDoesNotCount() {
    var other = Self.shell { work in
      work.stop = .init(signal: 2, grace: .seconds(9))
      work.progress = #"(\d+)"#
    }
    other.name = "another"
    other.description = "words"
    other.needs = [JobNeed(JobID(3))]
    other.priority = .high
    other.uses = ["net": 1]
    other.timeout = .seconds(5)
    other.retry = RetryPolicy(max: 3)
    other.allowFailure = true
    other.creates = ["/jobs/out"]
    other.inputs = ["/jobs/src/*"]
    other.usual = UsualTime(median: .seconds(1), ninetieth: .seconds(2), count: 3)
    #expect(Fingerprint.of(other) == Fingerprint.of(Self.shell()))
    #expect(Fingerprint.of(Self.download { $0.resume = false }) == Fingerprint.of(Self.download()))
    #expect(Fingerprint.of(Self.download { $0.stall = .zero }) == Fingerprint.of(Self.download()))
    #expect(Fingerprint.of(Self.upload { $0.stall = .zero }) == Fingerprint.of(Self.upload()))
  }

  /// A store keeps it for months: a change of its form makes every recorded success unknown.
  @Test func itIsTheSameInEveryVersion() {
    #expect(Fingerprint.of(Self.shell()) == "57c4ef8491c8fc00e5fdfe70481f3b4b0f9a7dbc0c7621c5abd63191c64f10c8")
    #expect(Fingerprint.of(Self.download()) == "9f7dcb0e5379f86ee36993f20d3156ba33fedb05b3cae699aba6170353a5bb75")
  }

  @Test func theShellOfAScriptAndATerminalCount() {
    let bash = ["bash", "-c"]
    let jobs = [
      Self.shell(), Self.shell { $0.shell = bash }, Self.shell { $0.shell = ["bash -c"] },
      Self.shell { $0.hasTerminal = true },
      Self.shell {
        $0.shell = bash
        $0.hasTerminal = true
      },
      Self.simulate { $0.duration = .milliseconds(1500) }, Self.simulate { $0.duration = .milliseconds(1250) },
    ]
    #expect(Set(jobs.map(Fingerprint.of)).count == jobs.count)
    // A program is started without a shell.
    let words = Self.shell { $0.command = .argv(["make"]) }
    let other = Self.shell {
      $0.command = .argv(["make"])
      $0.shell = bash
    }
    #expect(Fingerprint.of(words) == Fingerprint.of(other))
  }

  @Test func thatOfOtherKindsIsTheSameInEveryVersionToo() {
    #expect(Fingerprint.of(Self.upload()) == "a7d1552fba11a7edc8477ada296346bda812cd59805b10e6b2e027317092a32b")
    #expect(Fingerprint.of(Self.simulate()) == "b31f19c1519a40dd038abd4151cbb288a227fcffe613c3047ec4d5554c9ca237")
    let words = Self.shell { $0.command = .argv(["make", "all"]) }
    #expect(Fingerprint.of(words) == "f745a964aaaab752f90b2228d484cd6a39a7d75ce7f6ab756a7375314674f221")
    let special = Self.shell {
      $0.shell = ["bash", "-c"]
      $0.hasTerminal = true
    }
    #expect(Fingerprint.of(special) == "18a2192d40cc2f6076c62b4f602578bcd2295b4cde2ce4026c2bed949bc569bf")
  }
}
