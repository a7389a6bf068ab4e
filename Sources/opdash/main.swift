import Dispatch
import Foundation
import Processes

// Before anything else: what dies with a signal from here on takes its jobs along.
ProcessSupervisor.shared.start()

let program = Program(
  environment: .current(), output: .standardOutput, errors: .standardError, parts: .real,
  exit: { status in
    ProcessSupervisor.shared.endAll()
    Foundation.exit(status)
  })
program.perform(Array(CommandLine.arguments.dropFirst()))
dispatchMain()
