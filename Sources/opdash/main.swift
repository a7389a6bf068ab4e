import Dispatch
import Foundation
import JobModel
import Processes
import Session

if let shortage = StartCheck.shortage() {
  Output.standardError.write(line: "opdash: \(shortage)")
  Foundation.exit(ExitStatus.usage)
}
// First, so that a signal from here on ends the jobs too.
ProcessSupervisor.shared.start()

let program = Program(
  environment: .current(), output: .standardOutput, errors: .standardError, parts: .real,
  exit: { status in
    ProcessSupervisor.shared.endAll()
    Foundation.exit(status)
  })
program.perform(Array(CommandLine.arguments.dropFirst()))
dispatchMain()
