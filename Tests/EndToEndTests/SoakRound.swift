import Foundation
import Support

/// One round: a run of the real program, the faults of its plan, and what is wrong after it.
///
/// Used on one thread.
final class SoakRound {
  /// What was done to the run, which says how it may end.
  struct Deeds {
    /// The signals that opdash handles, in the order of their arrival, and those that came before its handlers were installed.
    var asked: Set<Int32> = []
    var early: Set<Int32> = []
    var fatal: Set<Int32> = []
    var interrupts = 0
    var hasKeys = false
    var hasHungUp = false
    var hasClosedOutput = false
    /// Whether output may be waiting for a reader.
    var isUnread = false
    var mayHaveLostOutput = false
    var killedGuardians = 0
    var signalledJobs = 0
    var count: [String: Int] = [:]
  }

  /// How many processes may begin and end, one after the other, until those of the round have ended after opdash.
  ///
  /// A second is promised to a machine that does nothing else, where a process takes a millisecond or two; a busy machine takes
  /// longer for both. A sanitizer is slow.
  private static let lives = FaultHandling.isSanitized ? 15_000 : 2500

  let plan: SoakPlan
  private(set) var deeds = Deeds()
  private(set) var faults: [String] = []
  private(set) var ending: ChildProcess.Ending?
  /// The processes of jobs before the end, and the seconds until opdash and then all processes had ended.
  private(set) var figures = (processes: 0, end: 0.0, left: 0.0)

  /// Stands in the environment or the arguments of all processes of the round.
  let mark: String
  let folder: TemporaryFolder
  private let server: SoakServer
  private let processes: SoakProcesses
  private let pty: Pty?
  private let pipe: SoakPipe?
  private let child: ChildProcess
  private var modes: [UInt32] = []
  private var lookedAt = Date()
  private var isReading = true
  /// What was stopped: at its beginning a program has no process in front of it yet.
  private var stopped: pid_t?
  /// Whether opdash was seen; a shell starts it later.
  private var hasStarted = false
  /// Whether a wait has come to nothing: the round is not continued, so that its fault is reported before the gate gives up.
  private var isStuck = false
  private(set) var output: [UInt8] = []

  init(_ plan: SoakPlan, mark: String, program: String, server: SoakServer) throws {
    self.plan = plan
    self.mark = mark
    self.server = server
    processes = SoakProcesses(mark: mark)
    folder = try TemporaryFolder()
    let launch = try SoakLaunch(plan, mark: mark, program: program, server: server, in: folder)
    if plan.interface.isTerminal {
      let pty = try Pty(launch.command, environment: launch.environment)
      (self.pty, pipe, child) = (pty, nil, pty.child)
      modes = pty.initialModeNumbers
    } else {
      let pipe = try SoakPipe(folder, launch.command, launch.environment)
      (pty, self.pipe, child) = (nil, pipe, pipe.child)
    }
  }

  deinit { processes.free() }

  func run() {
    for (delay, fault) in plan.faults where ending == nil && !isStuck {
      hold(Double(delay) / 1000)
      if ending == nil { commit(fault) }
    }
    end()
    checkProcesses()
    drain()
    if !isStuck {
      checkTerminal()
      checkStatus()
      faults += SoakFiles(self, server: server).faults
    }
    if !faults.isEmpty { complain("\(ending.map { "\($0)" } ?? "no end") after \(figures), \(deeds)") }
  }

  var newestOutput: String { String(decoding: output.suffix(1500), as: UTF8.self) }

  private func complain(_ text: String) { faults.append(text) }

  // MARK: The run

  /// The process of opdash, which may outlive the shell; nil if it is not there.
  private var program: pid_t? {
    guard plan.hasShell else { return ending == nil ? ProcessTable.program(of: child.pid) : nil }
    let all = processes.living().filter { $0.name == "opdash" }
    // The guardian's, before it has its name, is its child.
    let found = all.first { one in !all.contains { $0.pid == one.parent } }
    if found != nil { hasStarted = true }
    return found.map { ProcessTable.program(of: $0.pid) }
  }

  /// Whether neither opdash nor its shell lives.
  private var isOver: Bool { ending != nil && program == nil }

  private func look() {
    let now = Date()
    // A reader that pauses for so long, on a busy machine, may be taken for gone.
    if now.timeIntervalSince(lookedAt) > 0.3 { deeds.isUnread = true }
    lookedAt = now
    if let pty {
      if isReading { pty.pump() } else { pty.checkEnding() }
      ending = pty.ending
      output = pty.output
    } else if let pipe {
      pipe.look(isReading: isReading)
      ending = pipe.ending
      output = pipe.output
    }
  }

  private func hold(_ time: Double) {
    let end = Date(timeIntervalSinceNow: time)
    repeat {
      look()
      _ = poll(nil, 0, 4)
    } while ending == nil && Date() < end
  }

  private func wait(within bound: Double = Patience.seconds, for condition: () -> Bool) -> Bool {
    let end = Date(timeIntervalSinceNow: bound)
    repeat {
      look()
      if condition() { return true }
      // Longer than `eventually` pauses: most conditions scan all processes.
      _ = poll(nil, 0, 10)
    } while Date() < end
    return false
  }

  /// Waits for what opdash or its shell owes; what does not come is a fault, after which nothing else is waited for.
  private func expect(_ fault: String, within bound: Double = Patience.seconds, _ condition: () -> Bool) {
    guard !isStuck, !wait(within: bound, for: condition) else { return }
    isStuck = true
    complain("\(fault): \(processes.living())\n\(program.map(ProcessTable.report) ?? "opdash is not there")")
  }

  private func waitForLives(for condition: () -> Bool) -> Bool {
    for _ in 0..<Self.lives {
      look()
      if condition() { return true }
      _ = try? ChildProcess(["true"]).ending(waiting: true)
    }
    return false
  }

  // MARK: Faults

  private func commit(_ fault: SoakPlan.Fault) {
    if let name = Self.name(fault) { deeds.count[name, default: 0] += 1 }
    switch fault {
    case .ask(let signal, let times): for _ in 0..<times { ask(signal) }
    case .end(let signal): endProgram(signal)
    case .stopProgram:
      guard !plan.hasShell, let program else { return }
      kill(program, SIGSTOP)
      stopped = program
    case .killGuardian: killGuardian()
    case .signalJob(let signal, let isGroup):
      guard let member = jobProcesses().randomElement() else { return }
      deeds.signalledJobs += 1
      kill(isGroup && member.group > 1 && member.group != getpgrp() ? -member.group : member.pid, signal)
    case .continueJobs:
      for member in jobProcesses() { kill(member.pid, SIGCONT) }
      goOn()
    case .keys(let keys):
      deeds.hasKeys = true
      for key in keys { pty?.send(key) }
      if plan.interface != .tui { deeds.isUnread = true }
    // After the terminal has gone, signals are all that is left.
    case .control(0x03, let times) where deeds.hasHungUp: for _ in 0..<times { ask(SIGINT) }
    case .control(let byte, let times): for _ in 0..<times { control(byte) }
    case .resize(let columns, let rows): pty?.resize(columns: columns, rows: rows)
    case .clog:
      pty?.clog()
      (isReading, deeds.isUnread) = (false, true)
    case .stopReading: (isReading, deeds.isUnread) = (false, true)
    case .read: isReading = true
    case .hangUp:
      deeds.hasHungUp = true
      note(SIGHUP, to: program)
      goOn()
      pty?.hangUp()
    case .closeOutput:
      deeds.hasClosedOutput = true
      pipe?.closeReader()
    }
  }

  /// How the summary calls it; nil if it is none.
  private static func name(_ fault: SoakPlan.Fault) -> String? {
    switch fault {
    case .ask(SIGINT, _), .control(0x03, _): "interrupt"
    case .ask(SIGTERM, _): "SIGTERM"
    case .ask: "SIGHUP"
    case .end(SIGKILL): "SIGKILL"
    case .end, .control(0x1C, _): "crash"
    case .control(0x1A, _): "^Z"
    case .control: "^S"
    case .stopProgram: "SIGSTOP"
    case .killGuardian: "guardian killed"
    case .signalJob: "job signalled"
    case .continueJobs: "SIGCONT"
    case .keys: "keys"
    case .resize: "resize"
    case .clog, .stopReading: "unread"
    case .read: nil
    case .hangUp: "hang-up"
    case .closeOutput: "output closed"
    }
  }

  /// The processes of jobs; a shell's own are none.
  private func jobProcesses() -> [SoakProcesses.Member] {
    processes.living().filter {
      $0.isOfJob && $0.pid != child.pid && !(plan.hasShell && $0.parent == child.pid)
    }
  }

  private func goOn() {
    guard let stopped else { return }
    for process in Set([stopped, program ?? stopped]) where ending == nil { kill(process, SIGCONT) }
    self.stopped = nil
  }

  private func ask(_ signal: Int32) {
    guard let program else { return }
    note(signal, to: program)
    if signal == SIGINT { deeds.interrupts += 1 }
    kill(program, signal)
    // Two that come at once are one to the kernel.
    if stopped != nil { return }
    expect("signal \(signal) was not taken") { ending != nil || !ProcessTable.hasPending(program, signal) }
  }

  /// Notes a signal that opdash answers in order, once it can.
  private func note(_ signal: Int32, to program: pid_t?) {
    if !(program.map { processes.answers($0, signal) } ?? false) { deeds.early.insert(signal) }
    deeds.asked.insert(signal)
  }

  /// Whether opdash, and not the shell that it was started in, is sent the signals of keys.
  private var isForeground: Bool {
    guard plan.hasShell, let pty else { return true }
    return program.map { getpgid($0) == pty.foregroundGroup } ?? false
  }

  private func control(_ byte: UInt8) {
    // Where another signal has ended the run, the terminal discards with this key what has not been read: also what
    // restores the screen.
    let isSignal = [0x03, 0x1A, 0x1C].contains(byte)
    if isSignal, !deeds.asked.isEmpty || !deeds.fatal.isEmpty { deeds.mayHaveLostOutput = true }
    if byte == 0x03, isForeground {
      note(SIGINT, to: program)
      deeds.interrupts += 1
    }
    if byte == 0x1C {
      prepareEnd(SIGQUIT)
      deeds.fatal.insert(SIGQUIT)
    }
    if byte == 0x13 { deeds.isUnread = true }
    pty?.send([byte])
    if byte != 0x13 { hold(0.01) }
  }

  private func endProgram(_ signal: Int32) {
    prepareEnd(signal)
    guard let program else { return }
    deeds.fatal.insert(signal)
    kill(program, signal)
  }

  /// Asked anew each time: at its beginning a program has no process in front of it yet.
  private var answersOrIsGone: Bool {
    guard ending == nil, let program else { return true }
    return processes.answers(program, SIGTERM) || !ProcessTable.isAlive(program)
  }

  /// Before `main` the crash reporter of the language's runtime answers these, with a question on a terminal.
  private static let reported = [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]

  /// Without a guardian nothing is promised, and a program that is stopped starts none.
  private func prepareEnd(_ signal: Int32) {
    if Self.reported.contains(signal), !answersOrIsGone {
      goOn()
      expect("opdash has no handlers") { answersOrIsGone }
    }
    guard deeds.killedGuardians > 0 else { return }
    goOn()
    expect("the guardian was not replaced") {
      ending != nil || processes.living().contains { $0.name == "job-guardian" }
    }
  }

  private func killGuardian() {
    let guardians = processes.living().filter { $0.name == "job-guardian" }
    deeds.killedGuardians += guardians.count
    for guardian in guardians { kill(guardian.pid, SIGKILL) }
    // One that is about to end is not to be taken for the next one.
    expect("a killed guardian lives") { !guardians.contains { ProcessTable.isAlive($0.pid) } }
  }

  // MARK: The end

  private func end() {
    let began = Date()
    // A shell may not have started it yet. Where opdash has ended already, the shell may wait for a reader.
    expect("the shell did not start opdash") { ending != nil || program != nil || hasStarted }
    goOn()
    figures.processes = jobProcesses().count
    if !plan.endsUnread { isReading = true }
    // Typed by mistake, ^S is answered by ^Q.
    if isReading { pty?.send([0x11]) }
    for fault in plan.ending where !isOver && !isStuck {
      // After ^Z the shell has the terminal, until it continues opdash.
      if case .control = fault, !deeds.hasHungUp {
        expect("the shell did not continue opdash") { program == nil || isForeground }
      }
      commit(fault)
      hold(0.02)
    }
    // Where keys have opened a prompt, the first ^C only closed it; and two that come at once are one to the kernel.
    let hasMany = plan.ending.contains { if case .control(_, let times) = $0 { times > 1 } else { false } }
    if deeds.hasKeys || hasMany, !isStuck, !wait(within: plan.grace + 1, for: { isOver }) {
      for fault in plan.ending where !isOver { commit(fault) }
    }
    expect("opdash did not end", within: plan.grace + Patience.seconds) {
      // The shell writes its own message to the full terminal.
      if plan.hasShell, program == nil { isReading = true }
      return isOver
    }
    figures.end = Date().timeIntervalSince(began)
    guard isStuck else { return }
    for member in processes.living() { kill(member.pid, SIGKILL) }
    _ = wait { isOver }
  }

  private func checkProcesses() {
    let began = Date()
    var left: [SoakProcesses.Member] = []
    var quiet = 0
    // One scan can miss a process in the middle of an exec.
    let isQuiet = waitForLives {
      left = processes.living()
      quiet = left.isEmpty ? quiet + 1 : 0
      return quiet == 2
    }
    figures.left = Date().timeIntervalSince(began)
    guard !isQuiet else { return }
    complain("left: \(left)")
    for member in left { kill(member.pid, SIGKILL) }
  }

  private func drain() {
    isReading = true
    look()
  }

  private func checkTerminal() {
    guard let pty, !deeds.hasHungUp else { return }
    var (left, now): (Set<Int>, [UInt32]) = ([], [])
    // After a SIGKILL the guardian does it.
    let isRestored = waitForLives {
      (left, now) = (deeds.mayHaveLostOutput ? [] : pty.leftModes, pty.modeNumbers)
      return left.isEmpty && now == modes
    }
    if !isRestored { complain("the terminal was left with the modes \(left), \(now) instead of \(modes)") }
  }

  // MARK: The status

  /// Whether opdash left when the run was over, after all was written.
  var hasEndedInOrder: Bool {
    switch ending {
    case .exited: break
    case .signalled(let signal): guard deeds.asked.contains(signal) else { return false }
    case nil: return false
    }
    // Each of the other signals counts as the first Ctrl-C.
    let interrupts = deeds.interrupts + (deeds.asked.subtracting([SIGINT]).isEmpty ? 0 : 1)
    return deeds.fatal.isEmpty && interrupts < 3 && !deeds.isUnread && !deeds.hasHungUp && !deeds.hasClosedOutput
      && deeds.early.isEmpty
  }

  /// The exit status, or that of a shell.
  var status: Int32? {
    switch ending {
    case .exited(let status): status
    case .signalled(let signal): 128 + signal
    case nil: nil
    }
  }

  private func checkStatus() {
    guard let ending, !(plan.hasShell && deeds.hasHungUp) else { return }
    let touched = deeds.signalledJobs > 0 || deeds.hasKeys
    // One that needs another may be skipped, and SIGCONT continues one that has stopped itself.
    let isContinued = deeds.count["SIGCONT"] != nil
    let isEndless = plan.jobs.contains {
      $0.isEndless && $0.text["needs"] == nil && !(isContinued && $0.kind == .stopsItself)
    }
    let mayComplete = touched || !isEndless || plan.fileLimit != nil
    var allowed: Set<Int32> = []
    if mayComplete { allowed = [0, 1] }
    if plan.file["on_failure"] as? String != "keep-going" { allowed.insert(1) }
    if plan.interface == .tui, deeds.hasKeys { allowed.insert(3) }
    if deeds.hasHungUp { allowed.formUnion([129, 141]) }
    if deeds.hasClosedOutput { allowed.insert(141) }
    var ends = deeds.fatal.union(deeds.early).union(deeds.asked)
    if deeds.hasHungUp { ends.insert(SIGHUP) }
    if plan.hasShell { allowed.formUnion(ends.map { 128 + $0 }) }
    // A log or a trace that may not grow is not a fault of the output, which is not a file.
    let isAllowed =
      switch ending {
      case .exited(let status): allowed.contains(status)
      case .signalled(let signal): ends.contains(signal)
      }
    if !isAllowed { complain("ended with \(ending)") }
  }
}
