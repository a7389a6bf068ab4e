extension HelpText {
  /// The job file at a glance.
  static let jobs = HelpText(
    name: "opdash jobs", summary: "the job file at a glance", usage: "",
    introduction: [
      .text("A job file is YAML or JSON: a map of names to jobs. opdash check reports all of its faults."),
      .code(jobFile),
    ],
    sections: [
      Section(
        title: "The file",
        blocks: [
          .rows(
            """
            name, version | what the run is called; 1
            slots | jobs at once (the number of processors)
            on_failure | keep-going, finish-running or stop-now
            schedule | critical-path, priority or fifo
            vars, env | values for ${NAME}; the environment of every command
            pools | names to sizes, taken with uses
            defaults | keys that every job has unless it says otherwise
            jobs | names to jobs
            """)
        ]),
      Section(
        title: "A job has one of",
        blocks: [
          .rows(
            """
            run | text for sh -c, or a program and its arguments as a list
            download | a URL, or url, to, sha256, resume, headers
            upload | file, url, method, headers
            simulate | duration, steps, fail_rate, seed
            """)
        ]),
      Section(
        title: "And any of",
        blocks: [
          .rows(
            """
            description | what opdash list prints
            needs | a list of jobs, or a map of jobs to ok, finished or failed
            timeout | the limit of one attempt: 500ms, 8s, 10m, 1h30m
            retry | a number, or max, backoff, initial, cap, jitter, only
            priority | very-low, low, normal, high or very-high
            uses | pools to units
            allow_failure | true: the run can succeed although the job fails
            env, dir | environment and folder of a command
            stop | signal and grace of a command
            progress | a regular expression over its output: (per cent) or (done)/(total)
            """)
        ]),
      Section(
        title: "Values",
        blocks: [
          .text(
            """
            ${NAME} is a var, ${env.NAME} a variable of the environment, ${env.NAME:-text} the same with a default; $${ is a \
            literal ${. Paths are relative to the job file. opdash run --set NAME=VALUE gives a var another value.
            """)
        ]),
    ])

  /// An example with most of what people use; a test reads it as a job file.
  static let jobFile = """
    version: 1
    slots: 4
    vars: { base: "http://127.0.0.1:8080" }
    jobs:
      fetch:
        description: the sources
        download: { url: "${base}/sdk.tar.gz", to: sdk.tar.gz }
        retry: { max: 5, only: [network, 5xx] }
      build:
        needs: [fetch]
        run: make -C sdk
        progress: '\\[(\\d+)/(\\d+)\\]'
        timeout: 10m
      report:
        needs: { build: finished }
        run: ./report
    """

  /// The records of `--ui json`.
  static let events = HelpText(
    name: "opdash events", summary: "the records of --ui json", usage: "",
    introduction: [
      .text(
        """
        --ui json prints one object a line. Each begins with v (1), seq (0, 1, 2 … without a gap), t (seconds since the run \
        began) and type. New fields are added at the end; readers ignore those that they don't know.
        """)
    ],
    sections: [
      Section(
        title: "type",
        blocks: [
          .rows(
            """
            run_started | run, name, slots, at, jobs, pools, folder, resumes
            job_added | job, kind, needs, what it does, priority, uses, timeout, retries, allow_failure, parent
            job_state | job, state, attempt, pid, and what belongs to the state
            job_restored | job, run, at, took
            inputs_hashed | job, hash
            job_progress | job, done, total, unit
            job_log | job, stream, text, attempt, cut
            program_log | text, cut
            cancel_requested | job, by, kill
            slots_changed | slots
            priority_changed | job, priority
            drain_changed | draining
            stop_requested | level, by
            run_finished | succeeded, failed, skipped, cancelled, exit, allowed, left
            """)
        ]),
      Section(
        title: "state",
        blocks: [
          .rows(
            """
            waiting | for its needs
            ready | for a slot or a pool
            executing, paused | an attempt runs, or is paused
            backing_off | reason, until, retry, retries
            succeeded | up_to_date where there was nothing to do
            failed | reason, exit, cause, signal, status, allowed
            cancelled | by person, signal, policy or program
            skipped | because: the job whose end rules this one out
            """)
        ]),
      Section(
        title: "Examples",
        blocks: [
          .table([
            Row(
              term: "opdash run --ui json | jq -r 'select(.state == \"failed\").job'",
              meaning: "the names of failed jobs")
          ])
        ]),
    ])
}
