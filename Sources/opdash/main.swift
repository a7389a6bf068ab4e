import Dispatch
import Foundation
import JobModel
import Processes
import Session

// A file that is opened later must not become a standard stream: a stream that is closed can be neither read nor written.
for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
  _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
}

ResourceLimits.returnLargeBlocks()

// Before another file gets the number of a descriptor that make has passed on.
var environment = Environment.current()
let detachment = Detachment(&environment)

// A crash ends the program at once, and so the jobs: the runtime's reporter would stop at a question while they execute.
if environment.variables["SWIFT_BACKTRACE", default: ""].isEmpty {
  for number in [SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(number, SIG_DFL) }
}

if let shortage = StartCheck.shortage() {
  Output.standardError.write(line: "opdash: \(shortage)")
  Foundation.exit(ExitStatus.usage)
}

// Before there is a guardian, which would end with this process.
if detachment == nil, Detachment.isWanted(Array(CommandLine.arguments.dropFirst())) {
  let reason = Detachment.start(CommandLine.arguments)
  Output.standardError.write(line: "opdash: can't start a detached run: \(reason)")
  Foundation.exit(ExitStatus.usage)
}

let context = CommandContext(
  environment: environment, output: .standardOutput, errors: .standardError,
  // Both are forked while there is one thread.
  supervise: { canDetach in
    if canDetach { TerminalFront.begin() }
    ProcessSupervisor.shared.start(atEnd: CrashedTerminal.restorer())
  },
  abandon: { end in
    ProcessSupervisor.shared.endAll()
    end.performAtOnce()
  },
  end: { end in
    ProcessSupervisor.shared.endAll()
    end.perform()
  }, detachment: detachment)
Program(context: context).perform(Array(CommandLine.arguments.dropFirst()))
dispatchMain()
