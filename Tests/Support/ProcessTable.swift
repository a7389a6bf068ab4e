import Foundation

/// What the system says about processes, from outside.
package enum ProcessTable {
  /// A number that no other process has in its command line: sleep for so many seconds to be found.
  package static func marker() -> String { "9\(UInt32.random(in: 1_000_000...4_000_000_000))" }

  /// The living processes that sleep for `marker` seconds, or have it elsewhere in their command line.
  ///
  /// A guardian has the arguments of its program, and is left out.
  package static func processes(with marker: String) -> [pid_t] {
    pids.filter { pid in
      guard pid != getpid(), let line = text("/proc/\(pid)/cmdline"), line.contains(marker) else { return false }
      return !isGuardian(pid) && isAlive(pid)
    }
  }

  private static func isGuardian(_ pid: pid_t) -> Bool { text("/proc/\(pid)/comm") == "job-guardian\n" }

  /// How many sleep for `marker` seconds.
  package static func sleepers(_ marker: String) -> Int {
    pids.count { text("/proc/\($0)/cmdline")?.hasPrefix("sleep\0\(marker)\0") == true && isAlive($0) }
  }

  /// Whether it is there and no zombie.
  package static func isAlive(_ pid: pid_t) -> Bool { !"ZX ".contains(state(of: pid)) }

  /// The letter of /proc/PID/stat; a blank if there is no such process.
  package static func state(of pid: pid_t) -> Character {
    guard let stat = text("/proc/\(pid)/stat"), let end = stat.lastIndex(of: ")") else { return " " }
    return stat[end...].dropFirst(2).first ?? " "
  }

  /// Whether a process is stopped by a signal, or suspended in vfork (D) by a stopped child.
  package static func isStopped(_ pid: pid_t) -> Bool { "TD".contains(state(of: pid)) }

  /// How many bytes a process has written.
  package static func written(by pid: pid_t) -> Int {
    let line = text("/proc/\(pid)/io")?.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
    return line.flatMap { Int($0.dropFirst(7)) } ?? 0
  }

  /// How often the threads of a process and of its children have gone to wait: what sleeps all the time adds nothing.
  package static func waits(of pid: pid_t) -> [pid_t: Int] {
    var waits: [pid_t: Int] = [:]
    for process in [pid] + children(of: pid) {
      for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? [] {
        let status = text("/proc/\(process)/task/\(name)/status") ?? ""
        let count = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }?.split(
          separator: "\t"
        ).last
        if let thread = pid_t(name) { waits[thread] = count.flatMap { Int($0) } ?? -1 }
      }
    }
    return waits
  }

  /// Whether a thread of the process waits for a terminal to take its output.
  package static func isBlockedByTerminal(_ pid: pid_t) -> Bool {
    waits(pid, in: "tty_write") || waits(pid, in: "wait_woken")
  }

  /// Whether a thread of the process waits in a function of the kernel whose name contains this.
  package static func waits(_ pid: pid_t, in function: String) -> Bool {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []).contains { thread in
      text("/proc/\(pid)/task/\(thread)/wchan")?.contains(function) == true
    }
  }

  /// The signals of a process, and what each of its threads waits for.
  package static func report(of pid: pid_t) -> String {
    let status = text("/proc/\(pid)/status")?.split(separator: "\n").filter {
      $0.hasPrefix("State") || $0.hasPrefix("Sh") || $0.hasPrefix("Sig")
    }
    let tasks = "/proc/\(pid)/task"
    let threads = ((try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []).map { number in
      ["comm", "wchan", "syscall", "stack"].map { name in
        (text("\(tasks)/\(number)/\(name)") ?? "").replacing("\n", with: " ")
      }.joined(separator: ": ")
    }
    return ([(status ?? []).joined(separator: ", ")] + threads).joined(separator: "\n")
  }

  /// Whether a signal waits to be handled by a process.
  package static func hasPending(_ pid: pid_t, _ signal: Int32) -> Bool { signals("ShdPnd:", of: pid).contains(signal) }

  /// The signals in one mask of a process, all at one instant.
  private static func signals(_ mask: String, of pid: pid_t) -> Set<Int32> {
    let line = text("/proc/\(pid)/status")?.split(separator: "\n").first { $0.hasPrefix(mask) }
    let bits = line?.split(whereSeparator: \.isWhitespace).last.flatMap { UInt64($0, radix: 16) } ?? 0
    return Set((1...Int32(UInt64.bitWidth)).filter { bits & (1 << UInt64($0 - 1)) != 0 })
  }

  /// The guardians among the processes that were started with this variable in their environment.
  package static func guardians(_ variable: String) -> [pid_t] {
    pids.filter { pid in
      isGuardian(pid) && isAlive(pid)
        && text("/proc/\(pid)/environ")?.split(separator: "\0").contains(Substring(variable)) == true
    }
  }

  package static func children(of pid: pid_t) -> [pid_t] {
    pids.filter { child in
      guard let stat = text("/proc/\(child)/stat"), let end = stat.lastIndex(of: ")") else { return false }
      return stat[end...].split(separator: " ").dropFirst(2).first.flatMap { pid_t($0) } == pid
    }
  }

  /// The process that executes a command of opdash: on a terminal it is the child of the one that the shell waits for.
  ///
  /// Once the program has ended, it is the process in front, which ends next.
  package static func program(of pid: pid_t) -> pid_t {
    isInFront(pid) ? children(of: pid).first(where: isAlive) ?? pid : pid
  }

  /// Whether a process takes the signals for the one behind it.
  ///
  /// A program has children too, which are copies of it until they execute another one. Only the process in front waits for
  /// signals, or blocks SIGTERM and not SIGWINCH while it handles one.
  private static func isInFront(_ pid: pid_t) -> Bool {
    func isWaiting() -> Bool { text("/proc/\(pid)/wchan")?.contains("sigtimedwait") == true }
    if isWaiting() { return true }
    // Read once: a program blocks all signals while it handles one, and none after it.
    let blocked = signals("SigBlk:", of: pid)
    return blocked.contains(SIGTERM) && !blocked.contains(SIGWINCH) || isWaiting()
  }

  /// The most memory that it has had, in bytes.
  package static func peakMemory(of pid: pid_t) -> Int? { memory(of: pid, "VmHWM:") }

  /// The memory that it has, in bytes.
  package static func memory(of pid: pid_t) -> Int? { memory(of: pid, "VmRSS:") }

  /// The size of its address space, in bytes.
  package static func addressSpace(of pid: pid_t) -> Int? { memory(of: pid, "VmSize:") }

  package static func descriptors(of pid: pid_t) -> Int { count("/proc/\(pid)/fd") }
  package static func threads(of pid: pid_t) -> Int { count("/proc/\(pid)/task") }

  /// Whether none of the threads of a process executes or could.
  package static func isAsleep(_ pid: pid_t) -> Bool {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return !threads.isEmpty
      && threads.allSatisfy { text("/proc/\(pid)/task/\($0)/stat")?.contains(") S ") == true }
  }

  /// Whether one of its threads sleeps for a time, not for an event.
  package static func hasSleepingThread(_ pid: pid_t) -> Bool {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return threads.contains { text("/proc/\(pid)/task/\($0)/wchan")?.hasSuffix("nanosleep") == true }
  }

  private static func count(_ folder: String) -> Int {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).count
  }

  private static func memory(of pid: pid_t, _ field: String) -> Int? {
    let line = text("/proc/\(pid)/status")?.split(separator: "\n").first { $0.hasPrefix(field) }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
  }

  private static var pids: [pid_t] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { pid_t($0) }
  }

  /// The content of a file of /proc; nil if there is none.
  package static func text(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }
}
