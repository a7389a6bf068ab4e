import JobFiles
import JobModel
import Testing

/// The key `service`.
struct ServiceTests {
  private func service(_ text: String, more: String = "") throws -> Service? {
    try job("run: ./api\nservice: \(text)\(more)").service
  }

  @Test func aServiceWithoutMoreIsReadyWhenItIsStarted() throws {
    #expect(try service("true") == Service())
    #expect(try service("{}") == Service())
    #expect(try service("false") == nil)
    #expect(try job("run: ./api").service == nil)
  }

  @Test(arguments: [
    ("{ url: 'http://127.0.0.1:9000/healthz' }", Service.Probe.url("http://127.0.0.1:9000/healthz")),
    ("'https://[::1]/up'", .url("https://[::1]/up")), ("{ port: 5432 }", .port(host: "127.0.0.1", 5432)),
    ("{ port: '5432' }", .port(host: "127.0.0.1", 5432)),
    ("{ port: 'db.local:65535' }", .port(host: "db.local", 65535)),
    ("{ port: '[::1]:5432' }", .port(host: "::1", 5432)), ("{ port: 1 }", .port(host: "127.0.0.1", 1)),
    ("{ port: 'db-1.x_y:80' }", .port(host: "db-1.x_y", 80)),
    ("{ run: pg_isready -q }", .command(.script("pg_isready -q"))),
    ("{ run: [pg_isready, -q] }", .command(.argv(["pg_isready", "-q"]))),
    ("{ output: 'listening on \\d+' }", .output("listening on \\d+")), ("notify", .notification),
  ])
  func itIsReadyByItsProbe(ready: String, probe: Service.Probe) throws {
    #expect(try service("{ ready: \(ready) }") == Service(probe: probe))
  }

  @Test func timesAndRestartAreThoseOfTheFile() throws {
    #expect(
      try service("{ ready: { port: 80, every: 2s, timeout: 1m30s }, restart: on-failure }")
        == Service(
          probe: .port(host: "127.0.0.1", 80), interval: .seconds(2), limit: .seconds(90), restart: .onFailure))
    #expect(try service("{ restart: always }")?.restart == .always)
    let shortest = try service("{ ready: { port: 80, every: 10ms, timeout: 10ms } }")
    #expect(shortest?.interval == .milliseconds(10) && shortest?.limit == .milliseconds(10))
  }

  @Test func whetherItIsAliveIsAskedAgainAndAgain() throws {
    var alive = Service.Liveness(.port(host: "127.0.0.1", 80))
    #expect(try service("{ alive: { port: 80 } }")?.alive == alive)
    (alive.interval, alive.limit, alive.failures) = (.seconds(1), .milliseconds(500), 1)
    #expect(
      try service("{ ready: notify, alive: { port: 80, every: 1s, timeout: 500ms, failures: 1 } }")
        == Service(probe: .notification, alive: alive))
    #expect(try service("{ alive: 'http://h/x' }")?.alive == Service.Liveness(.url("http://h/x")))
    #expect(try service("{ alive: { run: [a, b] } }")?.alive?.probe == .command(.argv(["a", "b"])))
  }

  @Test func aServiceMayHaveInputsToBeWatched() throws {
    #expect(try job("run: a\nservice: true\ninputs: conf").inputs == ["/jobs/conf"])
  }

  @Test func variablesArePutIntoProbes() throws {
    let job = try job(
      "run: ./api\nservice: { ready: { port: '${host}:${port}' } }", head: "vars: { host: h, port: 81 }")
    #expect(job.service?.probe == .port(host: "h", 81))
  }

  @Test func aRestartHappensFiveTimesUnlessRetrySaysOtherwise() throws {
    #expect(try job("run: a\nservice: { restart: always }").retry == RetryPolicy(max: 5))
    #expect(try job("run: a\nservice: { restart: on-failure }\nretry: 2").retry == RetryPolicy(max: 2))
    #expect(
      try job("run: a\nservice: { restart: always }", head: "defaults: { retry: 1 }").retry == RetryPolicy(max: 1))
    #expect(try job("run: a\nservice: true").retry == .never)
  }

  @Test func limitsOfTheDefaultsAreNotThoseOfAService() throws {
    let head = "defaults: { timeout: 3s, silence: 2s, tty: true }"
    let service = try job("run: a\nservice: true\n", head: head)
    guard case .shell(let work) = service.work else { throw UnexpectedWork() }
    #expect(service.timeout == nil)
    #expect(work.silence == nil)
    #expect(work.hasTerminal)
    #expect(try job("run: a\nservice: false", head: head).timeout == .seconds(3))
    guard case .shell(let watched) = try job("run: a\nservice: true\nsilence: 9s", head: head).work else { return }
    #expect(watched.silence == .seconds(9))
  }

  @Test(arguments: [
    ("maybe", "2:27: service takes true or false; this is 'maybe'"),
    (
      "http://h/x",
      "2:27: service takes true, or a map; this is 'http://h/x': write 'service: { ready: … }' for its URL"
    ),
    ("~", "2:27: service takes true, or a map as { ready: { port: 8080 } }; this is empty"),
    ("[]", "2:27: service is a map; this is a list: write '{ ready: { port: 8080 } }' or the like"),
    (
      "{ alive: {} }",
      "2:36: service.alive says nothing to probe: give it one of url, port or run, or delete it for none"
    ),
    (
      "{ alive: { output: x } }",
      "2:38: unknown key 'output': it is a key of ready: earlier output does not show that the service still answers"
    ),
    (
      "{ alive: { port: 1, failures: 0 } }", "2:57: service.alive.failures takes a whole number, 1 to 1000; this is '0'"
    ),
    (
      "{ livenessProbe: { httpGet: { port: 80 } } }",
      "2:29: unknown key 'livenessProbe': write 'alive: { url: http://127.0.0.1:80/ }'"
    ),
    (
      "{ ready: {} }",
      "2:36: service.ready says nothing to wait for: give it one of url, port, run or output, or delete it for a service "
        + "that can be used at once"
    ),
    (
      "{ ready: { output: up, port: 1 } }",
      "2:50: service.ready has one of url, port, run or output, and this one has 'output' already: delete one"
    ),
    (
      "{ ready: 8080 }", "2:36: service.ready: '8080' is no URL: write 'ready: { port: 8080 }'"
    ),
    (
      "{ ready: 'localhost:80' }",
      "2:36: service.ready: 'localhost:80' is no URL: write 'ready: { port: \"localhost:80\" }'"
    ),
    ("{ ready: 1 }", "2:36: service.ready: '1' is no URL: write 'ready: { port: 1 }'"),
    ("{ ready: 0 }", "2:36: service.ready: '0' is no URL: write it with http:// or https:// at its beginning"),
    (
      "{ ready: 'a:b:80' }",
      "2:36: service.ready: 'a:b:80' is no URL: write it with http:// or https:// at its beginning"
    ),
    ("{ ready: '80:' }", "2:36: service.ready: '80:' is no URL: write it with http:// or https:// at its beginning"),
    (
      "{ ready: true }",
      "2:36: service.ready: 'true' is no URL: write 'service: true' for one that can be used as soon as it is started"
    ),
    (
      "{ ready: h/x }", "2:36: service.ready: 'h/x' is no URL: write it with http:// or https:// at its beginning"
    ),
    (
      "{ ready: { url: 'ftp://h' } }",
      "2:43: service.ready.url: 'ftp://h' is neither http nor https: write a URL of these, or use a program such as curl in 'run'"
    ),
    (
      "{ ready: { port: 0 } }",
      "2:44: service.ready.port takes a port from 1 to 65535, or HOST:PORT; this is '0': write a number from 1 to 65535"
    ),
    (
      "{ ready: { port: 65536 } }",
      "2:44: service.ready.port takes a port from 1 to 65535, or HOST:PORT; this is '65536': write a number from 1 to 65535"
    ),
    (
      "{ ready: { port: http } }",
      "2:44: service.ready.port takes a port from 1 to 65535, or HOST:PORT; this is 'http': write the number of the port"
    ),
    (
      "{ ready: { port: ':80' } }",
      "2:44: service.ready.port takes a port from 1 to 65535, or HOST:PORT; this is ':80': write 80"
    ),
    (
      "{ ready: { port: '8080:80' } }",
      "2:44: service.ready.port takes a port from 1 to 65535, or HOST:PORT; this is '8080:80': write 80"
    ),
    (
      "{ ready: { port: '::1:80' } }",
      "2:44: service.ready.port takes a port from 1 to 65535, or HOST:PORT; this is '::1:80': put the IPv6 address in brackets, as in '[::1]:80'"
    ),
    (
      "{ ready: { port: '[h]:80' } }",
      "2:44: service.ready.port takes a port from 1 to 65535, or HOST:PORT; this is '[h]:80': write an IPv6 address between the brackets, as in '[::1]:80'"
    ),
    (
      "{ ready: { port: 'http://h:80' } }",
      "2:44: service.ready.port takes a port from 1 to 65535, or HOST:PORT; this is 'http://h:80': write 'url' for an HTTP server, or the port alone"
    ),
    (
      "{ ready: { port: 'a/b:80' } }",
      "2:44: service.ready.port takes a port from 1 to 65535, or HOST:PORT; this is 'a/b:80': write the name of a host, as in 'localhost:80'"
    ),
    (
      "{ ready: { run: '' } }",
      "2:43: service.ready.run is empty: it takes a command for sh as text, or a program and its arguments as a list"
    ),
    (
      "{ ready: { run: [CMD, x] } }",
      "2:44: 'CMD' is a word of Compose: delete it, so that the program is the first word"
    ),
    ("{ ready: { run: [CMD-SHELL, x] } }", "2:44: 'CMD-SHELL' is a word of Compose: write the command as text"),
    (
      "{ ready: { output: '(a' } }",
      "2:47: '(a' is not a regular expression: this '(' is never closed: add ')', or write '\\(' for a bracket"
    ),
    ("{ ready: { output: '' } }", "2:46: service.ready.output is empty: it takes a regular expression"),
    (
      "{ ready: { port: 1, every: 1ms } }",
      "2:54: service.ready.every takes 10ms or longer; this is 1ms: write more, or delete it"
    ),
    (
      "{ ready: { port: 1, every: 9ms } }",
      "2:54: service.ready.every takes 10ms or longer; this is 9ms: write more, or delete it"
    ),
    (
      "{ ready: { port: 1, timeout: 0s } }",
      "2:56: service.ready.timeout takes 10ms or longer; this is 0s: write more, or delete it"
    ),
    ("{ restart: 'no' }", "2:38: service.restart takes never, on-failure or always; this is 'no': write never"),
    (
      "{ restart: unless-stopped }",
      "2:38: service.restart takes never, on-failure or always; this is 'unless-stopped': write always"
    ),
    ("{ port: 80 }", "2:29: unknown key 'port': write 'ready: { port: 80 }'"),
    ("{ port: [80, 81] }", "2:29: unknown key 'port': write 'ready: { port: [80, 81] }'"),
    ("{ run: ~ }", "2:29: unknown key 'run': write 'ready: { run: … }'"),
    ("{ every: 1s }", "2:29: unknown key 'every': it is a key of ready: write it inside 'ready: { … }'"),
    (
      "{ ready: { port: 1, restart: always } }",
      "2:47: unknown key 'restart': it is a key of service: write it beside 'ready'"
    ),
  ])
  func whatIsNoServiceIsRefused(text: String, fault: String) {
    #expect(faults(job: "run: ./a, service: \(text)") == [fault])
  }

  @Test(arguments: [
    "{ ready: { port: 99999 } }", "{ ready: 8080 }", "{ ready: h/x }", "{ ready: {} }", "{ redy: notify }", "[]",
    "8080", "http://h/x", "~", "maybe", "'true'",
  ])
  func aFaultOfAServiceIsNoneOfItsValues(service: String) {
    let use = "b: { needs: { a: ready }, run: 'echo ${jobs.a.port}' }"
    #expect(faults("jobs:\n  a: { run: ./a, service: \(service) }\n  \(use)\n").count == 1)
    #expect(faults("jobs:\n  a: { run: ./a, service: {} }\n  \(use)\n").count == 1)
  }

  @Test(arguments: ["no", "'false'"]) func whatIsMeantAsFalseIsNoService(word: String) {
    #expect(faults("jobs:\n  a: { run: ./a, service: \(word) }\n  b: { needs: [a], run: ls }\n").count == 1)
  }

  @Test(arguments: [
    (
      "timeout: 5s",
      "2:8: a service runs while others need it, and 'timeout' would end it: write service.ready.timeout for how long it may "
        + "take until it can be used"
    ),
    ("creates: x", "2:8: a service always starts, so it has no 'creates': delete it"),
  ])
  func whatNeedsAnEndIsNoKeyOfAService(key: String, fault: String) {
    #expect(faults(job: "\(key), run: ./a, service: true") == [fault])
    #expect(faults(job: "\(key), run: ./a, service: false").isEmpty)
  }

  @Test func aServiceMayFailAndIsWatchedForSilence() throws {
    let job = try job("run: ./a\nservice: true\nallow_failure: true\napprove: Start it?\nuses: {}")
    #expect(job.allowFailure)
    #expect(job.approval == "Start it?")
  }

  @Test(arguments: ["download: 'http://h/x'", "simulate: {}"])
  func onlyARunJobIsAService(work: String) {
    let article = work.hasPrefix("d") ? "a download" : "a simulate"
    #expect(
      faults(job: "service: true, \(work)") == ["2:8: 'service' is for run jobs; this is \(article): delete it"])
  }

  @Test(arguments: [
    (
      "healthcheck: { test: [CMD, curl, -f, http://h], interval: 5s }",
      "service: { ready: { run: [curl, -f, http://h] } }"
    ),
    ("healthcheck: { test: [CMD-SHELL, pg_isready] }", "service: { ready: { run: pg_isready } }"),
    ("healthcheck: { test: pg_isready }", "service: { ready: { run: pg_isready } }"),
    (
      "readiness_probe: { http_get: { host: h, scheme: http, path: /up, port: 80 }, period_seconds: 5 }",
      "service: { ready: { url: http://h:80/up } }"
    ),
    ("readinessProbe: { httpGet: { path: up, port: 80 } }", "service: { ready: { url: http://127.0.0.1:80/up } }"),
    ("readiness_probe: { exec: { command: 'test -f x' } }", "service: { ready: { run: test -f x } }"),
    ("livenessProbe: { tcpSocket: { port: 80 } }", "service: { alive: { port: 80 } }"),
    ("healthcheck: {}", "service: { ready: { url: http://… } }"),
    ("readiness_probe: { port: 80 }", "service: { ready: { port: 80 } }"),
    ("readiness_probe: { port: 80, path: /up }", "service: { ready: { url: http://127.0.0.1:80/up } }"),
    ("readiness_probe: { port: 80, scheme: HTTPS }", "service: { ready: { url: https://127.0.0.1:80/ } }"),
    ("readiness_probe: { http_get: { host: h } }", "service: { ready: { url: http://h/ } }"),
    ("readiness_probe: { exec: ls }", "service: { ready: { run: ls } }"),
    ("livenessProbe: { tcpSocket: {} }", "service: { alive: { port: … } }"),
    ("healthcheck: { test: [CMD, ls] }", "service: { ready: { run: [ls] } }"),
    ("healthcheck: { test: [CMD-SHELL, a, b] }", "service: { ready: { run: [a, b] } }"),
    ("ready_log_line: listening", "service: { ready: { output: listening } }"),
  ])
  func aProbeOfAnotherToolIsTranslated(written: String, advice: String) {
    let key = written.prefix { $0 != ":" }
    #expect(faults(job: "\(written), run: ls") == ["2:8: unknown key '\(key)': write '\(advice)'"])
  }

  @Test(arguments: [
    (
      "restart: always",
      "write 'service: { restart: always }' for what runs while others need it, or 'retry' for a job that ends"
    ),
    (
      "restart: unless-stopped",
      "write 'service: { restart: always }' for what runs while others need it, or 'retry' for a job that ends"
    ),
    (
      "restart: on-failure:3",
      "write 'service: { restart: on-failure }' for what runs while others need it, or 'retry' for a job that ends"
    ),
    (
      "availability: { restart: on_failure, max_restarts: 3 }",
      "write 'service: { restart: on-failure }' for what runs while others need it, or 'retry' for a job that ends"
    ),
    ("restart: no", "no job is started again without 'retry': delete it"),
    ("restart: 5", "write 'retry' if it should be tried again after a failure"),
  ])
  func aRestartOfAnotherToolIsTranslated(written: String, advice: String) {
    let key = written.prefix { $0 != ":" }
    #expect(faults(job: "\(written), run: ls") == ["2:8: unknown key '\(key)': \(advice)"])
  }

  @Test(arguments: [
    (
      "{ max_restarts: 3 }",
      "2:29: unknown key 'max_restarts': write 'retry: N' beside 'service' for how often it may be started again"
    ),
    ("{ healthcheck: { test: x } }", "2:29: unknown key 'healthcheck': write 'ready: { run: x }'"),
    ("{ availability: { restart: always } }", "2:29: unknown key 'availability': write 'restart: always'"),
    (
      "{ ready: { http_get: { port: 80, path: /x } } }",
      "2:38: unknown key 'http_get': write 'ready: { url: http://127.0.0.1:80/x }'"
    ),
    ("{ ready: { port: 1, period_seconds: 5 } }", "2:47: unknown key 'period_seconds': write 'every: 5s'"),
    (
      "{ ready: { port: 1, initial_delay_seconds: 5 } }",
      "2:47: unknown key 'initial_delay_seconds': the first probe comes with the start, and 'timeout' is how long all of "
        + "them may take: delete it"
    ),
    (
      "{ ready: { port: 1, failure_threshold: 5 } }",
      "2:47: unknown key 'failure_threshold': write 'timeout', how long all probes may take"
    ),
    ("{ ready: { log_line: x } }", "2:38: unknown key 'log_line': write 'output'"),
  ])
  func wordsOfOtherToolsInsideAServiceAreTranslated(text: String, fault: String) {
    #expect(faults(job: "run: ./a, service: \(text)") == [fault])
  }
}
