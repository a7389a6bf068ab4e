import Basics
import Foundation
import Operations
import Support
import Testing

@testable import Processes

/// Shell text that is executed without a shell.
struct PlainScriptTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [
    ("ls", ["ls"]), ("ls -l /tmp\n", ["ls", "-l", "/tmp"]), ("  ls \t -l  ", ["ls", "-l"]),
    ("./x a=b", ["./x", "a=b"]), ("x 'a b' \"c d\"", ["x", "a b", "c d"]), ("x 'it'\\''s'", ["x", "it's"]),
    ("x '' a''b", ["x", "", "ab"]), ("x 'a\nb'", ["x", "a\nb"]), ("x a\\ b", ["x", "a b"]), ("x ü", ["x", "ü"]),
    ("x '$HOME' \"#\" '*'", ["x", "$HOME", "#", "*"]),
  ])
  func aProgramWithWordsNeedsNoShell(_ text: String, _ words: [String]) {
    #expect(PlainScript.words(text) == words)
  }

  @Test(arguments: [
    "", " ", "a; b", "a && b", "a | b", "a &", "a > b", "a < b", "a $b", "a `b`", "a \"$b\"", "a \"b\\c\"", "a *",
    "a ?", "a [b]", "a ~", "a # b", "a=b c", "(a)", "{ a; }", "! a", "a {b,c}", "a\nb", "a 'b", "a \"b", "a \\\nb",
    "'a' b", "\\a b", "echo a", "cd a", "exec a", "test a", ":", ". a", "if a", "time a", "^a", "a\0b",
  ])
  func whatTheShellUnderstandsIsLeftToIt(_ text: String) { #expect(PlainScript.words(text) == nil) }

  /// A word that was copied for each of its bytes would take minutes.
  @Test func aWordMayBeLong() {
    let word = String(repeating: "a", count: 1_000_000)
    #expect(PlainScript.words("x \(word) b") == ["x", word, "b"])
  }

  @Test func theWordsAreThoseOfTheShell() throws {
    let pieces = [
      "a", "b1", " ", "  ", "\t", "'c d'", "\"e f\"", "''", "'\\''", "\\ ", "\\x", "=", "-", "%", "é", "\"'\"", "'\"'",
    ]
    var compared = 0
    for seed in 0..<200 {
      var random = SplitMix(seed: UInt64(seed))
      let tail = (0..<Int.random(in: 1...8, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
      let text = "/usr/bin/printf '%s\\0' \(tail.joined())"
      guard let words = PlainScript.words(text) else { continue }
      compared += 1
      let shell = try Support.ChildProcess.run(["/bin/sh", "-c", text])
      let plain = try Support.ChildProcess.run(words)
      #expect(shell.ending == .exited(0) && shell.output == plain.output, "\(text)")
    }
    #expect(compared > 100)
  }

  @Test func aShellIsStartedForTheStandardShellOnly() {
    #expect(ProcessLaunch(script: "ls -l").withoutShell?.arguments == ["ls", "-l"])
    #expect(ProcessLaunch(script: "ls -l", shell: ["/bin/sh", "-e", "-c"]).withoutShell?.arguments == ["ls", "-l"])
    #expect(ProcessLaunch(script: "ls -l", shell: ["bash", "-c"]).withoutShell == nil)
    #expect(ProcessLaunch(["/bin/sh", "-c", "ls", "name"]).withoutShell == nil)
    #expect(ProcessLaunch(script: "ls", directory: "relative").withoutShell == nil)
  }

  // MARK: What can't be started is left to the shell

  @Test func aScriptWithoutAFirstLineForTheKernelIsRun() throws {
    let file = try folder.addProgram("script", "echo \"from $1\"\n")
    #expect(Shell("\(file.path) here").run().text() == "from here\n")
  }

  @Test func ofAProgramThatIsNotThereTheShellSaysWhy() {
    let shell = Shell("no-such-program-here a").run()
    #expect(shell.exit == .exited(127))
    #expect(shell.text(.stderr).contains("no-such-program-here"))
  }

  @Test func relativeFoldersOfThePathAreThoseOfTheDirectory() throws {
    try FileManager.default.createDirectory(at: folder.file("bin"), withIntermediateDirectories: true)
    try folder.addProgram("bin/printenv", "#!/bin/sh\necho mine\n")
    let environment: ProcessEnvironment = ["PATH": "bin:/usr/bin:/bin"]
    for script in ["printenv PATH", "printenv PATH;"] {
      let launch = ProcessLaunch(script: script, directory: folder.url.path, environment: environment)
      #expect(Shell(launch).run().text() == "mine\n", "\(script)")
    }
    let words = ProcessLaunch(["printenv", "PATH"], directory: folder.url.path, environment: environment)
    #expect(Shell(words).run().text() == "mine\n")
  }

  @Test func theDirectoryIsThatOfTheVariableToo() throws {
    let path = folder.url.path
    func said(_ environment: ProcessEnvironment) -> String {
      Shell(ProcessLaunch(script: "printenv PWD", directory: path, environment: environment)).run().text()
    }
    #expect(said(.inherited) == path + "\n")
    #expect(said(["PWD": "/mine"]) == "/mine\n")
    #expect(said(.only([:])) == "")
  }

  // MARK: Which text is plain

  @Test func theCharactersThatNeedNoQuotesAreKnown() {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    let plain = Set("%+,-./0123456789:@_" + letters)
    for character in (0x21...0x7E).map({ Character(Unicode.Scalar(UInt8($0))) }) {
      let isPlain = plain.contains(character)
      #expect((PlainScript.words("\(character)x y") == ["\(character)x", "y"]) == isPlain, "\(character)")
      // Only in the first word an equals sign means something.
      let isWord = isPlain || character == "="
      #expect((PlainScript.words("x \(character)") == ["x", "\(character)"]) == isWord, "\(character)")
    }
  }

  @Test(
    arguments: [
      ("x a\\", nil), ("x a\\ ", nil), ("x \"b!\"", nil), ("x \"b`\"", nil), ("x 'b!'", ["x", "b!"]),
      ("x 'a '", ["x", "a "]), ("x =a", ["x", "=a"]), ("x a\\\\", ["x", "a\\"]), ("x \"a'b\"", ["x", "a'b"]),
      ("x \\$HOME", ["x", "$HOME"]), ("truey x", ["truey", "x"]), ("x true", ["x", "true"]), ("\n x", nil),
      ("x\t\ta\n\t\n", ["x", "a"]),
    ] as [(String, [String]?)])
  func quotesAndBackslashesAreUnderstoodOrLeft(text: String, words: [String]?) {
    #expect(PlainScript.words(text) == words)
  }
}
