import JobModel
import Testing

@testable import JobFiles

@Suite struct ComposeImportTests {
  private func file(_ processes: String, head: String = "", others: [String: String] = [:]) -> ImportCase {
    ImportCase(format: .compose, name: "pc.yaml", text: head + "processes:\n" + processes, others: others)
  }

  @Test func aConditionIsTheNeedThatMeansTheSame() throws {
    let graph = try file(
      """
        db: { command: db, readiness_probe: { exec: { command: ok } } }
        log: { command: log, ready_log_line: "is [up]" }
        bare: { command: bare }
        once: { command: once }
        last:
          command: last
          depends_on:
            db: { condition: process_healthy }
            log: { condition: process_log_ready }
            bare: { condition: process_started }
            once: { condition: process_completed_successfully }
        after: { command: after, depends_on: { once: { condition: process_completed } } }

      """
    ).graph()
    #expect(try graph.needs(of: "last") == ["db ready", "log ready", "bare ready", "once ok"])
    #expect(try graph.needs(of: "after") == ["once finished"])
    #expect(graph.jobs.map { $0.service != nil } == [true, true, true, false, false, false])
    #expect(try graph.job("log").service?.probe == .output("is \\[up]"))
    #expect(graph.keepsServices && graph.jobs[0].shell?.shell == ["bash", "-c"])
  }

  @Test func probesKeepTheirTimes() throws {
    let graph = try file(
      """
        api:
          command: api
          readiness_probe:
            http_get: { scheme: https, host: h, port: "8080", path: ready }
            initial_delay_seconds: 5
            period_seconds: 2
            failure_threshold: 4
          liveness_probe: { exec: { command: "ping ${X}", working_dir: "a b" }, timeout_seconds: 0 }
          availability: { restart: always, max_restarts: 7, backoff_seconds: 3 }
          shutdown: { signal: 2, timeout_seconds: 20 }

      """
    ).graph()
    let job = try graph.job("api")
    #expect(job.service?.probe == .url("https://h:8080/ready"))
    #expect(job.service?.interval == .seconds(2) && job.service?.limit == .seconds(13))
    #expect(job.service?.alive?.probe == .command(.script("cd 'a b' && {\nping \n}")))
    #expect(job.service?.alive?.interval == .seconds(10) && job.service?.alive?.limit == .seconds(1))
    #expect(job.service?.restart == .always)
    #expect(job.retry.max == 7 && job.retry.initial == .seconds(3) && job.retry.backoff == .constant)
    #expect(job.shell?.stop == ShellWork.Stop(signal: 2, grace: .seconds(20)))
  }

  @Test func variablesAreThoseOfTheProgramThatReadTheFile() throws {
    let file = file(
      """
        a: { command: "echo $HOME ${HOME} $$HOME $${HOME} $(date) ${UNSET}.", working_dir: "${HOME}/x" }
        b: { command: "echo {{.A}} {{ .B }}", vars: { A: 2, B: "$$x" } }

      """, head: "vars: { A: 1 }\n")
    let graph = try file.graph()
    #expect(try graph.job("a").script == "echo /h /h $HOME ${HOME} $(date) .")
    #expect(try graph.job("a").shell?.directory == "/h/x")
    #expect(try graph.job("b").script == "echo 2 $x")
    let plain = self.file("  a: { command: \"echo $$ ${X} $1 {{x}}\" }\n", head: "disable_env_expansion: true\n")
    #expect(try plain.graph().jobs[0].script == "echo $$ ${X} $1 {{x}}")
  }

  @Test func instancesHaveTheirNumbers() throws {
    let graph = try file(
      """
        w: { command: "w {{.PC_REPLICA_NUM}}", replicas: 2, environment: ["A=1", "A=b=c"] }
        x: { command: "x $$PC_PROC_NAME", depends_on: { w: { condition: process_started } } }

      """
    ).graph()
    #expect(graph.jobs.map(\.name) == ["w[0]", "w[1]", "x"])
    #expect(graph.jobs.map(\.script) == ["w 0", "w 1", "x $PC_PROC_NAME"])
    #expect(graph.jobs[1].shell?.environment == ["A": "b=c", "PC_REPLICA_NUM": "1"])
    #expect(graph.jobs[2].shell?.environment == ["PC_PROC_NAME": "x"])
    #expect(graph.jobs[2].needs.count == 2)
  }

  @Test func theRestHasItsKeys() throws {
    let file = file(
      """
        a: { command: a, disabled: true, is_tty: true, description: "it's a", env_file: a.env }
        b: { entrypoint: [b, "", "$$x"], availability: { restart: on_failure, exit_on_end: true } }
        c: { command: c, schedule: { interval: 5m, run_on_start: true }, availability: { restart: exit_on_failure } }

      """, head: "name: all\nenvironment: { E: 1 }\nshell: { shell_command: zsh }\n", others: ["a.env": "X=1\n"])
    let graph = try file.graph()
    #expect(graph.name == "all" && graph.onFailure == .stopNow && !graph.keepsServices)
    #expect(graph.jobs.map(\.isManual) == [true, false, false])
    #expect(graph.jobs[0].shell?.hasTerminal == true && graph.jobs[0].description == "it's a")
    #expect(graph.jobs[0].shell?.shell == ["zsh", "-c"] && graph.jobs[0].shell?.environment == ["E": "1"])
    #expect(graph.jobs[1].shell?.command == .argv(["b", "", "$x"]) && graph.jobs[1].retry.max == 1_000_000)
    #expect(try file.imported().text.contains("\ndotenv: [a.env]\n"))
  }

  @Test func whatHasNoEqualIsNamedBesideTheJob() throws {
    let file = file(
      """
        a:
          command: a
          namespace: n
          is_daemon: true
          is_elevated: false
          odd: 1
          x-mine: 1
          shutdown: { signal: 40, command: stop, parent_only: yes }
          liveness_probe: { exec: { command: ok }, initial_delay_seconds: 1 }
        b: { command: b, depends_on: { a: { condition: process_healthy }, c: { condition: process_started } } }
        c: { command: c, ready_log_line: "x" }
        d: { command: d, depends_on: { c: { condition: process_completed } } }

      """, head: "log_level: info\n")
    let (text, warnings) = try file.imported()
    #expect(
      warnings.map { $0.split(separator: " ").prefix(4).joined(separator: " ") } == [
        "1:1: 'log_level' has no", "5:5: 'namespace' has no", "6:5: 'is_daemon' has no", "8:5: 'odd' has no",
        "10:25: A job can't", "10:29: 'shutdown.command' has no", "10:44: 'parent_only' has no",
        "11:46: 'initial_delay_seconds' of a", "12:34: 'process_healthy' of a", "12:69: 'process_started' waits for",
        "13:20: 'ready_log_line' has no",
      ])
    #expect(text.contains("\n    # A job can't be stopped by this signal, and is stopped by TERM.\n"))
    #expect(text.contains("\n    # 'odd' has no equal in a job file, and is left out.\n"))
    #expect(text.contains("\n# 'log_level' has no equal in a job file, and is left out.\n"))
  }

  @Test func aServiceThatMayEndByItselfIsNamed() throws {
    let file = file(
      """
        once: { command: once }
        tests: { command: tests, availability: { restart: exit_on_failure } }
        again: { command: again, availability: { restart: always } }
        probed: { command: probed, ready_log_line: up }
        alive: { command: alive, liveness_probe: { exec: { command: ok } } }
        last:
          command: last
          depends_on:
            once: { condition: process_started }
            tests: { condition: process_started }
            again: { condition: process_started }
            probed: { condition: process_log_ready }
            alive: { condition: process_started }

      """)
    func warning(_ place: String, _ name: String) -> String {
      "\(place): '\(name)' is a service, which fails if it ends while it is needed: for a process that ends by itself "
        + "wait for 'process_completed'"
    }
    // The first warning is that of exit_on_failure.
    #expect(try file.imported().warnings.dropFirst() == [warning("10:7", "once"), warning("11:7", "tests")])
  }

  @Test(arguments: [
    ("  a: { command: 'x {{.B}}' }\n", "vars: { A: 1 }\n", "3:17: '{{.B}}' is not a value of 'vars': write it out"),
    ("  a: { command: '' }\n", "", "2:17: the command is empty: write one"),
    ("  a: {}\n", "", "2:3: process 'a' has no command: write 'command: …'"),
    ("  ab: { command: x, depends_on: { ac: {} } }\n", "", "2:35: process 'ac' is unknown: did you mean 'ab'?"),
    ("  a: { command: x, depends_on: [b] }\n", "", "2:32: depends_on takes a map of processes; this is a list"),
    (
      "  a: { command: x, depends_on: { a: {} } }\n", "",
      "2:3: processes depend on each other: a -> a: delete one of these needs"
    ),
    ("  a: { command: x, replicas: many }\n", "", "2:30: replicas takes a whole number, 0 to 1000; this is 'many'"),
    (
      "  a: { command: x, readiness_probe: { period_seconds: 99999999999999999999 } }\n", "",
      "2:37: readiness_probe asks nothing"
    ),
    ("  a: { command: x, environment: [A] }\n", "", "2:34: this is not a variable with its value: write 'NAME=VALUE'"),
    ("  a: { command: \"$$$X\" }\n", "", "2:17: a job file can't have '$' directly before a variable"),
    (
      "  a: { command: x }\n", "extends: b.yaml\n",
      "1:1: process-compose puts the file of 'extends' and this one together"
    ),
    ("  a: [\n", "", "2:6: "),
  ])
  func aFaultHasItsPlace(_ processes: String, _ head: String, _ fault: String) {
    let faults = file(processes, head: head).faults
    #expect(faults.contains { $0.hasPrefix(fault) }, "\(faults)")
  }

  @Test func aFileWithoutProcessesIsNone() {
    let file = ImportCase(format: .compose, name: "pc.yaml", text: "services: {}\n")
    #expect(file.faults == ["1:1: the file has no 'processes': name a file of process-compose"])
  }
}
