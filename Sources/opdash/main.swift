import Dispatch
import Foundation

let program = Program(
  environment: .current(), output: .standardOutput, errors: .standardError, parts: .real, exit: { Foundation.exit($0) })
program.perform(Array(CommandLine.arguments.dropFirst()))
dispatchMain()
