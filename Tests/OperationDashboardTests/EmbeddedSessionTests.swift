import Session
import Testing

@testable import OperationDashboard

struct EmbeddedSessionTests {
  @Test func theSettingsOfASessionAreTheOptions() {
    var options = Dashboard.Options()
    let standard = Settings(options)
    #expect(standard.interface == nil && standard.keepOpen == .onFailure)
    #expect(!standard.isASCII && standard.hasMouse)
    options.isASCII = true
    options.usesMouse = false
    options.keepOpen = .never
    let changed = Settings(options)
    #expect(changed.isASCII && !changed.hasMouse && changed.keepOpen == .never)
  }

  @Test(arguments: [
    (Dashboard.Options.Interface.terminal, Settings.Interface.dashboard), (.inline, .inline), (.plain, .plain),
    (.json, .json), (.quiet, .quiet),
  ])
  func eachInterfaceHasItsCounterpart(interface: Dashboard.Options.Interface, counterpart: Settings.Interface) {
    var options = Dashboard.Options()
    options.interface = interface
    options.keepOpen = .always
    #expect(Settings(options).interface == counterpart)
    #expect(Settings(options).keepOpen == .always)
  }
}
