/// The job file that `opdash init` writes.
enum StarterFile {
  static let text = """
    # Jobs for opdash. `opdash run` runs all of them, `opdash test` one of them and what it needs, `opdash check` looks for
    # faults, and `opdash help jobs` explains every key.
    version: 1

    # How many jobs run at once; without it, as many as there are processors.
    # slots: 4

    jobs:
      # The short form: a name and a command for the shell.
      hello: echo "hello from opdash"

      # A job starts when the jobs that it needs have succeeded. Jobs that don't need each other run side by side.
      build:
        needs: [hello]
        run: |
          echo compiling
          sleep 1
        # With these, nothing is done while the inputs have not changed and the created files are there:
        # inputs: src/**/*.c
        # creates: build/app

      test:
        needs: [build]
        run: echo testing
        timeout: 5m
        retry: 1

      # sdk:
      #   download: { url: "https://example.com/sdk.tar.gz", to: sdk.tar.gz }

    # Jobs that run when all others have ended, whatever became of them.
    finally:
      report: { when: failed, run: echo "something failed" }

    """
}
