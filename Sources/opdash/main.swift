import Dispatch
import Foundation
import Processes

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
