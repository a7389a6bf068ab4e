/// Values that other tools have, by the words of ours that they mean.
enum ForeignValues {
  static let onFailure = [
    "continue": "keep-going", "ignore": "keep-going", "true": "keep-going", "never": "keep-going", "stop": "stop-now",
    "abort": "stop-now", "fail-fast": "stop-now", "failfast": "stop-now", "fail": "stop-now", "cancel": "stop-now",
    "exit": "stop-now", "kill": "stop-now", "now": "stop-now", "false": "stop-now", "wait": "finish-running",
    "drain": "finish-running", "soon": "finish-running",
  ]

  static let engine = [
    "cluster": "slurm", "hpc": "slurm", "sbatch": "slurm", "srun": "slurm", "remote": "slurm", "localhost": "local",
    "host": "local", "here": "local", "shell": "local",
  ]

  static let priority = [
    "urgent": "very-high", "highest": "very-high", "critical": "very-high", "top": "very-high", "max": "very-high",
    "important": "high", "medium": "normal", "default": "normal", "standard": "normal", "lowest": "very-low",
    "idle": "very-low", "min": "very-low", "background": "very-low",
  ]

  static let stderr = [
    "merged": "together", "stdout": "together", "combined": "together", "joined": "together", "separate": "apart",
    "split": "apart", "stderr": "apart",
  ]

  static let backoff = ["linear": "constant", "fixed": "constant", "none": "constant", "double": "exponential"]

  static let restart = [
    "no": "never", "false": "never", "none": "never", "exit_on_failure": "never", "unless-stopped": "always",
    "unless_stopped": "always", "true": "always", "yes": "always", "any": "always", "on_failure": "on-failure",
    "onfailure": "on-failure", "failure": "on-failure", "abnormal": "on-failure", "transient": "on-failure",
  ]

  static let start = [
    "automatic": "auto", "always": "auto", "true": "auto", "yes": "auto", "false": "manual", "no": "manual",
    "disabled": "manual", "never": "manual", "on-demand": "manual", "by-hand": "manual",
  ]

  /// The ends of the other jobs, for a job of `finally`.
  static let when = [
    "success": "ok", "succeeded": "ok", "on_success": "ok", "on-success": "ok", "failure": "failed", "error": "failed",
    "on_failure": "failed", "on-failure": "failed", "not-ok": "failed", "finished": "always", "any": "always",
    "true": "always", "always()": "always", "failure()": "failed", "success()": "ok",
  ]

  /// The conditions of needs.
  static let condition = [
    "okay": "ok", "success": "ok", "succeeded": "ok", "successful": "ok", "passed": "ok", "true": "ok", "yes": "ok",
    "process_completed_successfully": "ok", "service_completed_successfully": "ok", "started": "ready",
    "process_started": "ready", "service_started": "ready", "process_healthy": "ready", "service_healthy": "ready",
    "healthy": "ready", "running": "ready", "up": "ready", "process_log_ready": "ready", "completed": "finished",
    "complete": "finished", "done": "finished", "ended": "finished", "exited": "finished", "always": "finished",
    "any": "finished", "process_completed": "finished", "failure": "failed", "error": "failed", "not_ok": "not-ok",
    "notok": "not-ok", "cancelled": "not-ok", "skipped": "not-ok",
  ]
}
