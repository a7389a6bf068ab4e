import Foundation
import Support
import Testing

@testable import Processes

struct ProcessLaunchTests {
  private func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

  @Test func aCommandLineHasAtMost60Characters() {
    #expect(ProcessLaunch(["/usr/bin/x", repeated("y", 58)]).commandLine == "x " + repeated("y", 58))
    #expect(ProcessLaunch(["/usr/bin/x", repeated("y", 59)]).commandLine == "x " + repeated("y", 57) + "…")
    #expect(ProcessLaunch(script: repeated("a", 60)).commandLine == repeated("a", 60))
    #expect(ProcessLaunch(script: repeated("a", 61)).commandLine == repeated("a", 59) + "…")
    #expect(ProcessLaunch(script: repeated("a ", 30)).commandLine == repeated("a ", 29) + "a")
  }

  @Test func theSecretsOfALaunchAreMaskedInItsName() {
    var launch = ProcessLaunch(["curl", "-u", "me:s3cret", "https://a:b@host/?q=s3cret"])
    launch.secrets = SecretMask(["s3cret"])
    #expect(launch.commandLine == "curl -u me:*** https://***@host/?q=***")
    var script = ProcessLaunch(script: "login s3cret")
    script.secrets = launch.secrets
    #expect(script.programName == "'login ***'")
  }

  @Test func aTerminalAndMergedOutputsAreOneStream() {
    var launch = ProcessLaunch(["true"])
    #expect(!launch.hasOneStream)
    launch.mergesError = true
    #expect(launch.hasOneStream)
    launch.mergesError = false
    launch.terminal = TerminalSize(columns: 80, rows: 24)
    #expect(launch.hasOneStream)
  }

  @Test func aLaunchIsEndedBySIGTERMAndFiveSecondsLaterKilled() {
    let launches = [
      ProcessLaunch(["true"]), ProcessLaunch(script: "true"), ProcessLaunch(script: "true", shell: ["sh", "-c"]),
    ]
    for launch in launches {
      #expect(launch.stopSignal == SIGTERM)
      #expect(launch.grace == .seconds(5))
      #expect(launch.input == .none && launch.environment == .inherited)
      #expect(launch.directory == nil && launch.terminal == nil && launch.remoteGrace == nil)
    }
    #expect(launches.map(\.arguments) == [["true"], ["/bin/sh", "-c", "true"], ["sh", "-c", "true"]])
  }

  @Test func aLaunchIsAsItWasAsked() {
    let launches = [
      ProcessLaunch(["a"], directory: "/d", input: .string("i"), stopSignal: SIGINT, grace: .seconds(2)),
      ProcessLaunch(script: "a", directory: "/d", input: .string("i"), stopSignal: SIGINT, grace: .seconds(2)),
      ProcessLaunch(
        script: "a", shell: ["sh", "-c"], directory: "/d", input: .string("i"), stopSignal: SIGINT, grace: .seconds(2)),
    ]
    for launch in launches {
      #expect(launch.directory == "/d" && launch.input == .string("i"))
      #expect(launch.stopSignal == SIGINT && launch.grace == .seconds(2))
    }
  }

  @Test func withoutAShellAnAbsoluteDirectoryIsThatOfTheVariable() throws {
    let launch = try #require(ProcessLaunch(script: "ls -l", directory: "/d").withoutShell)
    #expect(launch.arguments == ["ls", "-l"] && launch.directory == "/d")
    #expect(launch.environment == .inherited(adding: ["PWD": "/d"]))
    #expect(try #require(ProcessLaunch(script: "ls -l").withoutShell).environment == .inherited)
  }
}
