import Foundation
import Testing

@testable import Processes

struct SignalNameTests {
  @Test(arguments: [(SIGKILL, "SIGKILL", "KILL"), (SIGTERM, "SIGTERM", "TERM"), (SIGUSR1, "SIGUSR1", "USR1")])
  func aSignalHasItsNameAndAShortOne(signal: Int32, name: String, short: String) {
    #expect(SignalName.known(signal) == name)
    #expect(SignalName.of(signal) == name)
    #expect(SignalName.short(signal) == short)
  }

  @Test func aSignalWithoutANameIsANumber() {
    #expect(SignalName.known(64) == nil)
    #expect(SignalName.of(64) == "signal 64")
    #expect(SignalName.short(64) == "64")
  }

  @Test func theSignalsOfLinuxHaveNamesToo() {
    #expect(SignalName.of(SIGPWR) == "SIGPWR")
    #expect(SignalName.of(SIGSTKFLT) == "SIGSTKFLT")
  }
}
