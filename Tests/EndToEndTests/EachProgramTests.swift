import Foundation
import Support
import Testing

/// `opdash each` as other programs use it.
struct EachProgramTests {
  private let place: Workplace

  init() throws { place = try Workplace() }

  private func each(_ script: String) throws -> (output: String, errors: String, ending: ChildProcess.Ending?) {
    let run = try place.script(script)
    let ending = run.ending()
    return (run.outputText, run.errorText, ending)
  }

  @Test func standardOutputHasWhatTheCommandsPrintAndNothingElse() throws {
    let run = try each(#"printf 'a b\nit'"'"'s\n' | "$OPDASH" each --order 'echo {}; echo {#} >&2'"#)
    #expect(run.output == "a b\nit's\n")
    #expect(run.errors == "1\n2\n")
    #expect(run.ending == .exited(0))
  }

  @Test func failuresAreToldOnStandardErrorAndByTheStatus() throws {
    let run = try each(#""$OPDASH" each 'echo {}; exit {}' 0 3"#)
    #expect(run.ending == .exited(1))
    #expect(run.output.split(separator: "\n").sorted() == ["0", "3"])
    let lines = run.errors.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first?.hasPrefix("! 3  failed: exit 3 in ") == true)
    #expect(lines.last?.hasPrefix("each: 1 ok, 1 failed in ") == true)
  }

  @Test func aSignalEndsTheRunWithItsStatusAndKeepsWhatWasPrinted() throws {
    let run = try place.start(script: #"exec "$OPDASH" each 'echo {}; : >ready; exec sleep 86399' a"#)
    #expect(eventually { place.has("ready") })
    kill(run.child.pid, SIGTERM)
    #expect(run.ending() == .signalled(SIGTERM))
    #expect(run.outputText == "a\n")
    // It may be gone before it can be named.
    let named = "opdash: stopping; still running: a. Ctrl-C again kills.\n"
    #expect([named, "opdash: stopping\n"].contains(run.errorText))
  }

  @Test func manyOutputsStayWholeAndInOrder() throws {
    let command = #"for i in 1 2 3; do echo {}; done; printf {}"#
    let expected = (1...500).map { "\($0)\n\($0)\n\($0)\n\($0)" }.joined()
    #expect(try each("seq 500 | \"$OPDASH\" each -j 8 --order '\(command)'").output == expected)
    let free = try each("seq 500 | \"$OPDASH\" each -j 8 '\(command); echo'").output.split(separator: "\n")
    for start in stride(from: 0, to: free.count, by: 4) { #expect(Set(free[start..<start + 4]).count == 1) }
    #expect(Set(free).count == 500)
  }

  @Test func bytesPassAsTheyAre() throws {
    let run = try place.script(
      #"printf 'caf\351\0x\n\0' | "$OPDASH" each -0 --order 'printf "%s\r" {}; head -c 3 /dev/zero'"#)
    #expect(run.ending() == .exited(0))
    let bytes: [UInt8] = Array("caf".utf8) + [0xE9, 13, 0, 0, 0] + Array("x\n\r\0\0\0".utf8)
    #expect(run.outputBytes == Data(bytes))
  }

  @Test func anEmptyListRunsNothing() throws {
    let run = try each(#""$OPDASH" each 'touch made' </dev/null"#)
    #expect(run.ending == .exited(0) && run.output == "" && run.errors == "" && !place.has("made"))
  }

  @Test func aReaderThatGoesEndsTheRun() throws {
    let run = try each(#"(seq 100000 | "$OPDASH" each 'echo {}'; echo $? >status) | head -1 >first"#)
    #expect(run.ending == .exited(0))
    #expect(place.contents("status") == Data("141\n".utf8))
    #expect(place.contents("first")?.count ?? 0 > 1)
  }

  @Test(arguments: [">&-", ">/dev/full"]) func anOutputThatCannotBeWrittenIsNoSuccess(_ redirection: String) throws {
    let run = try each("\"$OPDASH\" each 'echo {}' a \(redirection)")
    #expect(run.ending == .exited(141))
    #expect(run.errors.hasPrefix("opdash: can't write standard output: "))
  }

  @Test func aRunWithItsArgumentsOnTheLineCanBeResumed() throws {
    let command = #""$OPDASH" each 'test -e {} && echo {}' here gone"#
    try place.write("", to: "here")
    #expect(try each(command).ending == .exited(1))
    try place.write("", to: "gone")
    let resumed = try each(#""$OPDASH" resume"#)
    #expect(resumed.ending == .exited(0), "\(resumed.errors)")
    #expect(resumed.output.contains("gone | gone") && !resumed.output.contains("here | here"))
  }

  @Test func aRunWithItsArgumentsOnStandardInputIsResumedInItsFolder() throws {
    try place.write("", to: "here")
    let command = #"printf 'here\ngone\n' | "$OPDASH" each --order -j 1 'echo {} >> log; test -e {}'"#
    #expect(try each(command).ending == .exited(1))
    try place.write("", to: "gone")
    let resumed = try each(#"mkdir sub && cd sub && "$OPDASH" resume last --ui plain"#)
    #expect(resumed.ending == .exited(0), "\(resumed.errors)")
    #expect(place.contents("log").map { String(decoding: $0, as: UTF8.self) } == "here\ngone\ngone\n")
    #expect(try each(#""$OPDASH" resume last"#).output.contains("nothing"))
  }

  // MARK: A list that arrives

  @Test func aJobStartsWhenItsArgumentIsThereThoughTheListGoesOn() throws {
    // The second argument comes when the first job has run.
    let run = try each(
      #"(echo a; until [ -e ran-a ]; do sleep 0.01; done; echo b) | "$OPDASH" each --order 'echo {}; : >ran-{}'"#)
    #expect(run.output == "a\nb\n" && run.errors == "" && run.ending == .exited(0))
  }

  @Test func anEndlessListRunsUntilNobodyReadsTheOutput() throws {
    let run = try each(#"(yes | "$OPDASH" each 'echo {}'; echo $? >status) | head -3"#)
    #expect(run.output == "y\ny\ny\n" && run.ending == .exited(0))
    #expect(place.contents("status") == Data("141\n".utf8))
  }

  /// A list of one argument, whose writer stays.
  private static let silent = #"mkfifo list; exec 3<>list; echo a >&3; exec "$OPDASH" each "#

  @Test(arguments: ["", "; exec sleep 86399"]) func aSignalEndsARunThatWaitsForItsList(_ more: String) throws {
    for signal in [SIGINT, SIGTERM] {
      let place = try Workplace()
      let run = try place.start(script: Self.silent + "'echo {}; : >ready\(more)' <&3")
      #expect(eventually { place.has("ready") && (!more.isEmpty || run.outputText == "a\n") })
      kill(run.child.pid, signal)
      #expect(run.ending() == .signalled(signal))
      #expect(run.outputText == "a\n")
    }
  }

  @Test(arguments: ["finish-running", "stop-now"]) func aFailureEndsTheListWhereThePolicySaysSo(_ policy: String) throws
  {
    let run = try each(Self.silent + "--on-failure \(policy) 'exit 3' <&3")
    #expect(run.ending == .exited(1))
    #expect(run.errors.hasPrefix("! a  failed: exit 3 in "))
  }

  @Test func aFaultOfALineFailsItsJobAndNoOther() throws {
    let run = try each(#"printf 'a\n\nb\0\nc\n' | "$OPDASH" each --order 'echo {}'"#)
    #expect(run.output == "a\nc\n" && run.ending == .exited(1))
    #expect(run.errors.hasPrefix("opdash: line 3 of standard input has a NUL byte, which no command can take: "))
    #expect(run.errors.contains("each: 2 ok, 1 failed in "))
  }

  @Test func aListThatCannotBeReadIsBadUsage() throws {
    let run = try each(#""$OPDASH" each 'touch made' </"#)
    #expect(run.ending == .exited(2) && !place.has("made"))
    #expect(run.errors == "opdash: can't read standard input: Is a directory\n")
  }

  @Test func aRunWhoseListWasNotReadToItsEndHasWorkThatNobodyKnows() throws {
    let run = try place.start(script: Self.silent + "'echo {}; : >ready' <&3")
    #expect(eventually { place.has("ready") && run.outputText == "a\n" })
    // The job's end is recorded a moment later.
    #expect(try eventually { try each(#""$OPDASH" report"#).output.hasPrefix("each: 1 ok in ") })
    kill(run.child.pid, SIGKILL)
    _ = run.ending()
    let refused = try each(#""$OPDASH" resume"#)
    #expect(refused.ending == .exited(2))
    #expect(refused.errors.contains("was not read to its end, and all of its first 1 job is done"))
  }

  @Test func aShortOutputIsRecordedWithoutALogFile() throws {
    let run = try each(#"seq 3 | "$OPDASH" each --order 'echo out {}; [ {} != 3 ]'; cat state/opdash/runs/*/logs/*"#)
    #expect(run.output == "out 1\nout 2\nout 3\nout 3\n")
    let events = try each(#""$OPDASH" replay last --ui json"#).output
    for number in 1...3 { #expect(events.contains(#""line":"out \#(number)""#) || events.contains("out \(number)")) }
  }

  /// As in `find | opdash each`: the keys are those of the terminal, and ^C is too.
  @Test func onATerminalADashboardShowsTheJobsOfAListInAPipe() throws {
    let window = try place.shell()
    let command = #"printf 'long\nlonger\n' | "$OPDASH" each 'exec sleep 86399; : {}'"#
    try window.session.type(command)
    try window.press("Enter")
    try window.sees("a dashboard") { $0.row("long")?.letter == "▶" && $0.row("longer")?.letter == "▶" }
    try window.press("x")
    try window.sees("a cancelled job") { $0.row("long")?.letter != "▶" && $0.row("longer")?.letter == "▶" }
    try window.press("C-c")
    try window.sees("each: 2 cancelled in ")
    // The shell has its terminal back.
    try window.session.type("echo back $((6 * 7))")
    try window.press("Enter")
    try window.sees("back 42")
  }

  /// As in `opdash each … | sort`: results go to the pipe, progress to the terminal.
  @Test func progressIsOneLineOfStandardErrorWhereResultsGoToAPipe() throws {
    let window = try place.pty(
      script: #""$OPDASH" each -j 1 'until [ -e go ]; do sleep 0.05; done; echo {}' b a | sort >out; echo status $?"#)
    #expect(window.waitUntil { $0.text.contains(" of 2 done") && $0.text.contains(" running") })
    #expect(!window.text.contains("\u{1B}[?1049h"))
    try Data().write(to: place.folder.file("go"))
    #expect(window.waitUntil { $0.text.contains("status 0") })
    #expect(try String(contentsOf: place.folder.file("out"), encoding: .utf8) == "a\nb\n")
    // The line is gone before the shell writes.
    #expect(window.text.hasSuffix("\r\u{1B}[Kstatus 0\r\n"))
  }

  @Test func withoutATerminalForKeysALineIsPrintedForEachJob() throws {
    let window = try place.pty(script: #""$OPDASH" each 'echo out {}' 1 2 3 </dev/null; echo status $?"#)
    #expect(window.waitUntil { $0.text.contains("status 0") })
    for number in 1...3 { #expect(window.text.contains("out \(number)")) }
  }
}
