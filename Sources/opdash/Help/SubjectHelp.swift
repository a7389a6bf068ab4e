import Dashboard

extension HelpText {
  /// The job file at a glance.
  static let jobs = HelpText(
    name: "opdash jobs", summary: "the job file at a glance", usage: "",
    introduction: [
      .text("A job file is YAML or JSON: a map of names to jobs. opdash check reports all of its faults."),
      .code(jobFile), .text("Matrices, services, conditions, values of other jobs, and jobs at the end:"),
      .code(largeJobFile),
    ],
    sections: [
      Section(
        title: "The file",
        blocks: [
          .rows(
            """
            name, version | what the run is called; 1
            slots | jobs at once (the number of processors)
            timeout | the limit of the whole run, as in 2h
            on_failure | keep-going, finish-running or stop-now; or stop_after (a number of failures) and then
            stay | true: services stay up when no job needs them any more, until the run is quit
            watch | debounce (300ms) and ignore, for opdash watch
            schedule | critical-path, priority or fifo
            shell | what runs a script: the name of a shell, or words as in [bash, -eu, -c]
            vars, env | values for ${NAME}; the environment of every command
            secrets | variables whose values are never shown or kept
            dotenv, include | files of variables; job files whose jobs belong to this one
            pools | names to sizes, taken with uses
            defaults | keys that every job has unless it says otherwise
            jobs | names to jobs
            finally | names to jobs that run when all others have ended
            """)
        ]),
      Section(
        title: "A job has one of",
        blocks: [
          .rows(
            """
            run | text for the shell, or a program and its arguments as a list
            download | a URL, or url, to, sha256, resume, headers, stall
            upload | file, url, method, headers, stall
            simulate | duration, steps, fail_rate, seed
            """),
          .text("NAME: text is short for NAME: { run: text }."),
        ]),
      Section(
        title: "And any of",
        blocks: [
          .rows(
            """
            description | what opdash list prints
            needs | jobs and patterns as a list, or as a map to ok, finished, failed, any-failed, not-ok or ready
            matrix | names to lists of values: an instance for each combination, without those of exclude, and with those of \
            include
            if | a condition with ==, !=, !, && and ||: it is skipped where this does not hold
            when | in finally: after which ends of the others it runs, always, ok or failed
            approve | a question to a person before it starts
            creates, inputs | files that it makes and reads: it is up to date while they are unchanged
            start | manual: a person starts it, with the key of retry
            service | that it runs while others need it; ready (url, port, run or output, with every and timeout, or \
            notify), alive (url, port or run, with every, timeout and failures), restart (never, on-failure or always)
            timeout, silence | the limit of one attempt (500ms, 8s, 10m, 1h30m), and of its saying nothing
            stall | the time without a moved byte after which a download or upload fails; 5m by default, 0s for no limit
            retry | a number, or max, backoff, initial, cap, jitter, only (causes, exit statuses, output: PATTERN)
            priority | very-low, low, normal, high or very-high
            uses | pools to units
            allow_failure | true: the run can succeed although the job fails
            env, dir, shell | environment, folder and shell of a command
            jobserver | true, or fifo: make, ninja and cargo in it share the run's slots
            tty | true: a terminal of its own, so that tools colour and draw
            stderr | apart: marked in the dashboard, but not in order with the rest of the output
            stop | signal and grace of a command
            on | local, or slurm for a job of a cluster
            slurm | what it asks for there: name, cpus, memory (16G, 0 for all), gpus, nodes, time, partition, account, \
            qos, constraint, options; for the file also allocation: the same keys, held for the run, so that each job is a \
            step of it
            progress | a regular expression over its output: (per cent) or (done)/(total)
            """)
        ]),
      Section(
        title: "Values",
        blocks: [
          .text(
            """
            ${NAME} is a var, ${env.NAME} a variable of the environment, ${env.NAME:-text} the same with a default, \
            ${matrix.NAME} a value of the instance, ${jobs.JOB.NAME} one that the job has written to $OPDASH_OUTPUT; $${ is a \
            literal ${. Paths are relative to the job file. opdash run --set NAME=VALUE gives a var another value. A \
            job that writes a job file to $OPDASH_ADD adds its jobs to the run.
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

  /// An example with the rest; a test reads this one too.
  static let largeJobFile = """
    shell: [bash, -eu, -o, pipefail, -c]
    timeout: 2h
    secrets: [TOKEN]
    dotenv: [.env]
    include: [common.yml]
    jobs:
      version: echo tag=1 >> $OPDASH_OUTPUT
      build:
        matrix:
          os: [linux, mac]
          arch: [x64, arm]
          exclude: [{ os: mac, arch: x64 }]
        run: [./build, "${matrix.os}", "${matrix.arch}"]
        inputs: src/**/*.c
        creates: out/${matrix.os}-${matrix.arch}
        tty: true
      api:
        run: ./api
        service:
          ready: { url: "http://127.0.0.1:9000/healthz" }
          restart: on-failure
      test-api:
        needs: { "build[linux,*]": ok, api: ready }
        run: ./e2e.sh
        silence: 5m
        retry: { max: 2, only: [timeout, 75, { output: "reset by peer" }] }
      publish:
        needs: [version, build, "test-*"]
        if: ${env.CI} && ${jobs.version.tag} != 0
        approve: Publish ${jobs.version.tag}?
        run: ./publish ${jobs.version.tag}
    finally:
      page: { when: failed, run: ./page-oncall }
      clean: rm -rf work
    """

  /// The settings file.
  static let settings = HelpText(
    name: "opdash settings", summary: "the settings file of the dashboard", usage: "",
    introduction: [
      .text(
        """
        opdash reads $XDG_CONFIG_HOME/opdash/config.yaml, else ~/.config/opdash/config.yaml. Options of the command line \
        override it. opdash keys prints the actions with their keys.
        """),
      .code(settingsFile),
    ],
    sections: [
      Section(
        title: "The file",
        blocks: [
          .rows(
            """
            keys | actions to a key, or a list of keys; [] for none
            colors | elements to [COLOR] [on COLOR] [bold] [dim] [underline] [reverse] [italic]
            background | auto, dark or light
            notify | none, bell or message, when a run has ended
            mouse | false leaves the mouse to the terminal
            ascii | true draws with ASCII only
            history | what is kept of recorded runs: days (30), runs (200), megabytes (1000)
            """)
        ]),
      Section(
        title: "Elements of colors",
        blocks: [.text(ThemeElement.allCases.map(\.rawValue).joined(separator: ", ") + ".")]),
    ])

  /// A test reads it as a settings file.
  static let settingsFile = """
    keys:
      cancel: [d, F9]
      kill: ^K
    colors:
      failed: bright-red bold
      executing: "#00afff"
    background: light
    notify: bell
    history: { days: 30, runs: 200, megabytes: 1000 }
    """

  /// The records that `opdash events` prints.
  static let records = [
    Section(
      title: "type",
      blocks: [
        .rows(
          """
          run_started | run, name, slots, at, jobs, pools, folder, resumes, timeout, open
          job_added | job, kind, needs, what it does, priority, uses, timeout, retries, allow_failure, parent
          job_state | job, state, attempt, pid, and what belongs to the state
          job_launched | job, pid, where the state had none yet
          job_restored | job, run, at, took
          job_caused | job, attempt, cause: why the attempt is made
          inputs_hashed | job, hash
          job_outputs | job, values
          job_placed | job, cluster_id, nodes, took once it has ended
          job_progress | job, done, total, unit
          job_log | job, stream, text, attempt, cut
          program_log | text, cut
          cancel_requested | job, by, kill
          slots_changed | slots
          pool_changed | pool, size
          priority_changed | job, priority
          drain_changed | draining
          watch_changed | watching, fault
          stop_requested | level, by
          arrivals_ended | no job is added any more to a run that began open
          cluster_changed | fault, while the controller of the cluster is down
          warning_raised | job, warning, evidence, advice, since, others
          warning_cleared | job, warning
          run_finished | succeeded, failed, skipped, cancelled, exit, allowed, left
          """)
      ]),
    Section(
      title: "state",
      blocks: [
        .rows(
          """
          waiting | for its needs
          ready | for a slot, a pool, a person or the cluster, with its reason
          serving | a service can be used
          executing, paused | an attempt runs, or is paused
          backing_off | reason, until, retry, retries
          succeeded | up_to_date where there was nothing to do
          failed | reason, exit, cause, signal, status, allowed
          cancelled | by person, signal, policy, timeout (of the run) or program
          skipped | because: the job whose end rules this one out, or for: condition, outcome, unneeded or manual
          """)
      ]),
  ]
}
