import JobModel

// The keys of the work of jobs.

extension JobFileKeys {
  static let workTable: [KnownKey<JobDraft>] = [
    KnownKey("run", .command, "a script for the shell, or a program and its arguments as a list"),
    KnownKey("download", .either([.url, .object { download.form }]), "a URL whose content is written to a file"),
    KnownKey("upload", .object { upload.form }, "a file that is sent to a URL"),
    KnownKey("simulate", .object { simulate.form }, "work that only takes time"),
  ]

  static let fileTable: [KnownKey<JobDraft>] = [
    KnownKey(
      "creates", .creates, into: \.job.creates, "files or folders that it makes: where they are there, it is up to date"
    ),
    KnownKey(
      "inputs", .inputs, into: \.job.inputs,
      "files and patterns that it reads: while they are unchanged, it is up to date; 'opdash watch' watches them"),
  ]

  static let service: KnownKeys<Service> = KnownKeys(
    "service", example: "{ ready: { port: 8080 } }", others: .service,
    elsewhere: places([
      (ready.keys, "it is a key of ready: write it inside 'ready: { … }'"),
      (alive.keys, "it is a key of alive: write it inside 'alive: { … }'"), (job.keys, ofTheJob),
    ]),
    [
      KnownKey(
        "ready", .either([.url, .choice(["notify"]), .object { ready.form }]),
        "how it is known that the service can be used; notify if it says so itself, as by sd_notify"),
      KnownKey(
        "alive", .either([.url, .object { alive.form }]),
        "how it is known that a service which could be used still can be; it is ended if not"),
      KnownKey(
        "restart", .choice(others: ForeignValues.restart), into: \.restart,
        "which ends that were not asked for are followed by another start"),
    ])

  static let ready: KnownKeys<Service> = KnownKeys(
    "service.ready", example: "{ port: 8080 }", others: .ready,
    elsewhere: places([
      (["restart"], "it is a key of service: write it beside 'ready'"), (job.keys, ofTheJob),
    ]),
    [
      KnownKey("url", .url, "the URL answers with a status below 400"),
      KnownKey("port", .port, "the port, of this machine or as HOST:PORT, accepts a connection"),
      KnownKey("run", .command, "the command exits with 0"),
      KnownKey("output", .pattern, "a line of its output matches the regular expression"),
      KnownKey("every", .probeTime, into: \.interval, "the time between two probes; 500ms by default"),
      KnownKey(
        "timeout", .probeTime, into: \.limit, "how long it may take until the service can be used; 30s by default"),
    ])

  static let alive: KnownKeys<Service.Liveness> = KnownKeys(
    "service.alive", example: "{ port: 8080 }", others: .alive,
    elsewhere: places([
      (["restart"], "it is a key of service: write it beside 'alive'"),
      (["output"], "it is a key of ready: earlier output does not show that the service still answers"),
      (job.keys, ofTheJob),
    ]),
    [
      KnownKey("url", .url, "the URL answers with a status below 400"),
      KnownKey("port", .port, "the port, of this machine or as HOST:PORT, accepts a connection"),
      KnownKey("run", .command, "the command exits with 0"),
      KnownKey("every", .probeTime, into: \.interval, "the time between two probes; 10s by default"),
      KnownKey("timeout", .probeTime, into: \.limit, "how long a probe may take; 5s by default"),
      KnownKey(
        "failures", .whole(1...1000), into: \.failures,
        "how many probes in a row must fail before the service is ended; 3 by default"),
    ])

  static let watch: KnownKeys<WatchRules> = KnownKeys(
    "watch", example: "{ debounce: 300ms }", others: .watch,
    elsewhere: places([
      (["inputs"], "each job has its own: write them into the jobs"),
      (job.keys, "it is a key of a job: write it there"),
    ]),
    [
      KnownKey(
        "debounce", .duration, into: \.debounce,
        "how long files must be at rest before jobs are executed again; 300ms by default"),
      KnownKey(
        "ignore", .ignoredFiles, into: \.ignored,
        "names and patterns of files and folders whose changes count for nothing"),
    ])

  static let download: KnownKeys<DownloadWork> = KnownKeys(
    "download", example: "{ url: http://…, to: FILE }", others: .download, elsewhere: ofJob,
    [
      KnownKey("url", .address, into: \.url, "where it is"),
      KnownKey("to", .text, "the file; the last component of the URL by default"),
      KnownKey("sha256", .checksum, into: \.sha256, "the SHA-256 of the content, 64 hexadecimal digits"),
      KnownKey("resume", .flag, into: \.resume, "whether an interrupted transfer is resumed; true by default"),
      KnownKey("headers", .headers, into: \.headers, "headers of the request"),
      stallKey(\.stall),
    ])

  private enum Method: String, CaseIterable {
    case put = "PUT"
    case post = "POST"
    case patch = "PATCH"
  }

  static let upload: KnownKeys<UploadWork> = KnownKeys(
    "upload", example: "{ file: out.zip, url: http://… }", others: .upload, elsewhere: ofJob,
    [
      KnownKey("file", .uploadedFile, into: \.file, "the file"),
      KnownKey("url", .address, into: \.url, "where it is sent to"),
      KnownKey(
        "method", ValueKind<Method>.choice().map(\.rawValue), into: \.method,
        "the method of the request; PUT by default"),
      KnownKey("headers", .headers, into: \.headers, "headers of the request"),
      stallKey(\.stall),
    ])

  static let simulate: KnownKeys<SimulatedWork> = KnownKeys(
    "simulate", example: "{ duration: 8s }", others: .simulate, elsewhere: ofJob,
    [
      KnownKey("duration", .duration, into: \.duration, "how long it takes; 0s by default"),
      KnownKey("steps", .whole(1...1_000_000), into: \.steps, "how many steps of progress it reports; 1 by default"),
      KnownKey("fail_rate", .fraction, into: \.failRate, "the probability that an attempt fails; 0 by default"),
      KnownKey("seed", .whole(0 ... .max), into: \.seed, "the same seed gives the same events; 0 by default"),
    ])
}
