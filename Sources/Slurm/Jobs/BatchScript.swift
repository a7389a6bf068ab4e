import Basics
import Foundation

/// The text of the script that a node executes for an attempt.
///
/// Before the program, the script makes the attempt's claim, so that only one of two submissions of an attempt executes
/// it. After the program, it writes the exit status and the start and end times to a file. Both are best effort: on a
/// node that can't write to the folder, the program runs without them.
///
/// A job that Slurm executes once more because it was requeued keeps its claim.
///
/// A signal ends the shell's wait, not the program: the shell waits again, also for a program that it has reaped.
///
/// SIGTERM and the job's stop signal, which all processes of the job receive, don't end the script before its program.
/// On the kill signal, the script kills them at once: Slurm itself gives a job that it kills some time, usually 30
/// seconds. During that time Slurm passes on no further signals, so the script checks for a file that has the same
/// effect.
///
/// With `--signal=B:…`, Slurm warns only the script of the time limit: it passes the signal on to its program.
///
/// A shell makes its background processes ignore SIGINT and SIGQUIT; env resets them where it can.
struct BatchScript {
  /// The status of a script whose attempt has been claimed by another job.
  static let duplicateStatus: Int32 = 75
  /// The status of an array's script that can't read the script of its attempt.
  static let unreadStatus: Int32 = 76
  /// The statuses of shells that cannot read or execute a script.
  static let unreadableStatuses: Set<Int32> = [2, 126, 127]
  /// The signal that makes a job's script kill its program and itself.
  ///
  /// The program's stop signal and the signal that the script passes on are others.
  static func killSignal(of job: SlurmJob) -> String {
    ["USR2", "USR1"].first { $0 != job.stop.signalName && $0 != job.resources.scriptSignal } ?? "HUP"
  }

  /// The script of one attempt, submitted by itself or in an array.
  static func text(of job: SlurmJob, isInArray: Bool = false, files: SlurmFiles) -> String {
    let id = isInArray ? "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" : "$SLURM_JOB_ID"
    let folder = files.folder.shellQuoted
    let exports = job.environment.sorted { $0.key < $1.key }
      .map { "export \($0.key)=\($0.value.shellQuoted)\n" }
    let killSignal = killSignal(of: job)
    let stopSignals = [SIGTERM, SIGKILL].contains(job.stop.signal) ? "TERM" : "TERM \(job.stop.signalName)"
    let warning = job.resources.scriptSignal
    let traps = [stopSignals, killSignal, warning].compactMap(\.self).joined(separator: " ")
    // env would treat such a name as a variable assignment.
    let withSignals =
      job.arguments[0].holds("=")
      ? "" : "env --default-signal=INT true 2>/dev/null && exec env --default-signal=INT,QUIT \"$@\""
    // A program's environment is unlikely to have variables of these names. Little more than env is forked: many jobs
    // are shorter than the start of a process. The signal may come at any line, also before the shell waits.
    return """
      #!/bin/sh
      opdash_file=\(files.path(of: job.identity).shellQuoted)
      opdash_id=\(id)
      [ -d \(folder) ] || mkdir -m 700 -p \(folder) 2>/dev/null
      set -C
      if command : 2>/dev/null >"$opdash_file.claim"; then
        { echo "$opdash_id ${SLURMD_NODENAME:-?}" >|"$opdash_file.claim"; } 2>/dev/null
      elif [ -e "$opdash_file.claim" ]; then
        read -r opdash_first opdash_node <"$opdash_file.claim"
        [ "${SLURM_RESTART_COUNT:-0}" != 0 ] && [ "$opdash_first" = "$opdash_id" ] || exit \(duplicateStatus)
        { echo "$opdash_id ${SLURMD_NODENAME:-?}" >|"$opdash_file.claim"; } 2>/dev/null
        rm -f "$opdash_file.exit" "$opdash_file.kill"
      fi
      set +C
      command : 2>/dev/null >>"$opdash_file.out" && exec >>"$opdash_file.out" 2>&1
      unset OPDASH_RUN
      opdash_stop=
      opdash_process=
      opdash_watch=
      opdash_warned=
      opdash_told() {
        trap '' \(stopSignals)
        opdash_stop=stopped
        opdash_signalled=1
        if [ "$opdash_process" ] && [ -z "$opdash_watch" ]; then
          (until [ -e "$opdash_file.kill" ]; do sleep 0.2; done; kill -9 0) &
          opdash_watch=$!
        fi
        trap opdash_told \(stopSignals)
      }
      trap opdash_told \(stopSignals)
      trap 'kill -9 0' \(killSignal)
      \(warning.map(Self.passing) ?? "")
      \(time("opdash_began"))
      (
        trap - \(traps)
        cd \(job.directory.shellQuoted) || exit 2
        \(exports.joined())set -- \(job.arguments.map(\.shellQuoted).joined(separator: " "))
        \(withSignals)
        exec "$@"
      ) </dev/null &
      opdash_process=$!
      [ "$opdash_stop" ] && opdash_told
      [ "$opdash_warned" ] && opdash_warn
      opdash_status=
      while :; do
        opdash_signalled=
        wait $opdash_process
        opdash_last=$?
        [ $opdash_last = 127 ] && [ "$opdash_status" ] || opdash_status=$opdash_last
        [ "$opdash_signalled" ] || kill -0 $opdash_process 2>/dev/null || break
      done
      trap '' \([stopSignals, warning].compactMap(\.self).joined(separator: " "))
      [ "$opdash_watch" ] && kill -9 $opdash_watch 2>/dev/null
      \(time("opdash_ended"))
      { echo "$opdash_status $opdash_id $opdash_began $opdash_ended $opdash_stop" >"$opdash_file.exit"; } 2>/dev/null
      exit $opdash_status

      """
  }

  /// The lines that pass a signal on to the program, once there is one.
  private static func passing(_ signal: String) -> String {
    """
    opdash_warn() {
      opdash_signalled=1
      if [ "$opdash_process" ]; then kill -\(signal) "$opdash_process" 2>/dev/null; else opdash_warned=1; fi
    }
    trap opdash_warn \(signal)
    """
  }

  /// A line that sets a variable to the seconds since the node's boot, if available, without starting a process.
  private static func time(_ variable: String) -> String {
    "\(variable)=; { read -r \(variable) opdash_idle </proc/uptime; } 2>/dev/null"
  }

  /// The script of an array, whose jobs execute the scripts of their attempts in the folder.
  static func text(ofBatch name: String, files: SlurmFiles) -> String {
    """
    #!/bin/sh
    opdash_script=\(files.folder.shellQuoted)/\(name).$SLURM_ARRAY_TASK_ID.sh
    [ -r "$opdash_script" ] || exit \(unreadStatus)
    . "$opdash_script"

    """
  }
}

extension SlurmJob {
  /// The reason that the job can't be submitted, whatever the cluster is; nil if there is none.
  var problem: String? {
    if let fault = resources.faults.first ?? resources.signalFault(stop: stop.signal) { return fault.description }
    if arguments.isEmpty { return "there is no program" }
    if let name = environment.keys.sorted().first(where: { !$0.utf8.isVariableName }) {
      return "'\(name)' is not a name of an environment variable"
    }
    let texts = arguments + [directory, name] + environment.values
    return texts.contains { $0.utf8.contains(0) }
      ? "a zero byte, which no program can be given, is in its command" : nil
  }
}
