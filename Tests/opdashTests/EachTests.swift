import Foundation
import JobModel
import Support
import Testing

@testable import Session
@testable import opdash

/// The jobs that `opdash each` makes.
struct EachTests {
  private func jobs(_ request: EachRequest, _ arguments: [String]) throws -> [Job] {
    var jobs = try EachJobs(request)
    return arguments.map { Array($0.utf8) }.grouped(by: request.perJob).map { jobs.next($0).job }
  }

  @Test func jobsAreNamedAfterTheirArguments() throws {
    var request = EachRequest(command: "echo {}")
    let names = try jobs(
      request,
      ["a", "b", "a", "a (2)", "a", "", " x ", "tab\tnew\nline", "\u{1B}[31m", String(repeating: "x", count: 99)]
    ).map(\.name)
    #expect(
      names == [
        "a", "b", "a (2)", "a (2) (2)", "a (3)", "''", "x", #"tab\tnew\nline"#, #"\u{1B}[31m"#,
        String(repeating: "x", count: 29) + ".." + String(repeating: "x", count: 29),
      ])
    request.perJob = 3
    #expect(try jobs(request, ["a", "b", "c", "d"]).map(\.name) == ["a +2", "d"])
  }

  @Test func jobsHaveTheTimeoutAndTheRetriesOfTheCommandLine() throws {
    let job = try jobs(EachRequest(command: "x", retries: 2, timeout: .seconds(3)), ["a"])[0]
    #expect(job.timeout == .seconds(3) && job.retry.max == 2)
    #expect(job.work == .shell(ShellWork(.script("x 'a'"), stderr: .apart)))
    #expect(try jobs(EachRequest(command: "x"), ["a"])[0].retry == .never)
    #expect(try jobs(EachRequest(command: "x", retries: 1), ["a"])[0].retry.max == 1)
  }

  @Test func anArgumentThatNoCommandTakesFailsItsJobOnly() throws {
    var jobs = try EachJobs(EachRequest(command: "echo {}"))
    let (job, fault) = jobs.next([[97, 0]])
    #expect(fault == "argument 1 has a NUL byte, which no command can take: --null splits standard input there")
    guard case .shell(let work) = job.work else { return #expect(Bool(false)) }
    #expect(try ChildProcess.run(["/bin/sh", "-c", "(\(work.summary)) 2>&1"]).output == "opdash: \(fault ?? "")\n")
    #expect(try ChildProcess.run(["/bin/sh", "-c", "\(work.summary) 2>/dev/null"]).ending == .exited(2))
    let long = [UInt8](repeating: 97, count: EachTemplate.longestScript - 7)
    #expect(jobs.next([long]).fault == nil)
    #expect(
      jobs.next([long + [97]]).fault
        == "argument 3 makes a command of more than 131071 bytes: put it into a file, and give its name")
    #expect(
      jobs.next([long, [97]]).fault
        == "an argument of job 4 makes a command of more than 131071 bytes: lower --max-args")
  }

  // MARK: Lists

  private func split(_ text: String, _ splitter: ArgumentSplitter, pieces: Int) -> [String] {
    var splitter = splitter
    var arguments: [ListArgument] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      arguments += splitter.feed(bytes[start..<min(start + pieces, bytes.count)])
    }
    if let last = splitter.finish() { arguments.append(last) }
    return arguments.map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  @Test(arguments: [1, 2, 3, 100]) func aListIsSplitHoweverItArrives(_ pieces: Int) {
    #expect(split("a\n\nb c\nd", ArgumentSplitter(), pieces: pieces) == ["a", "b c", "d"])
    #expect(split("a\n", ArgumentSplitter(), pieces: pieces) == ["a"])
    #expect(split("", ArgumentSplitter(), pieces: pieces) == [])
    let null = EachRequest(delimiter: [0]).splitter
    #expect(split("a\n\0\0b\0", null, pieces: pieces) == ["a\n", "", "b"])
    let long = EachRequest(delimiter: Array("--".utf8)).splitter
    #expect(split("a--b-c---d--", long, pieces: pieces) == ["a", "b-c", "-d"])
  }

  @Test func ofAnArgumentThatIsTooLongOnlyTheBeginningIsKept() {
    for delimiter in ["\n", "ab"] {
      var splitter = EachRequest(delimiter: Array(delimiter.utf8)).splitter
      let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 50_000)
      for _ in 0..<10 { #expect(splitter.feed(piece[...]).isEmpty) }
      let arguments = splitter.feed(Array("\(delimiter)y\(delimiter)".utf8)[...])
      #expect(arguments.map(\.bytes.count) == [ArgumentSplitter.limit + 1, 1])
      #expect(splitter.finish() == nil)
    }
  }

  @Test(arguments: [-1, 0, 1, 5]) func anArgumentIsKeptUpToOneByteMoreThanTheLimit(excess: Int) {
    let argument = [UInt8](repeating: UInt8(ascii: "x"), count: ArgumentSplitter.limit + excess)
    let kept = ArgumentSplitter.limit + min(1, excess)
    var whole = ArgumentSplitter()
    #expect(whole.feed((argument + [10])[...]).map(\.bytes.count) == [kept])
    var torn = ArgumentSplitter()
    #expect(torn.feed(argument[..<ArgumentSplitter.limit.advanced(by: min(0, excess))]).isEmpty)
    let rest = argument[ArgumentSplitter.limit.advanced(by: min(0, excess))...]
    #expect(torn.feed(rest + [10]).map(\.bytes.count) == [kept])
    #expect(torn.finish() == nil)
  }

  @Test func theDelimiterAfterALongArgumentMayBeTorn() {
    var splitter = EachRequest(delimiter: Array("ab".utf8)).splitter
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 200_000)
    #expect(splitter.feed((long + [UInt8(ascii: "a")])[...]).isEmpty)
    #expect(splitter.feed(Array("byab".utf8)[...]).map(\.bytes.count) == [ArgumentSplitter.limit + 1, 1])
    #expect(splitter.feed((long + [UInt8(ascii: "a")])[...]).isEmpty)
    #expect(splitter.finish()?.bytes.count == ArgumentSplitter.limit + 1)
  }

  @Test func argumentsHaveTheirPlacesInTheList() {
    var splitter = ArgumentSplitter()
    #expect(splitter.feed(Array("a\n\n\nb\n".utf8)[...]).map(\.place) == [1, 4])
    #expect(splitter.feed(Array("\nc".utf8)[...]).isEmpty)
    #expect(splitter.finish()?.place == 6)
  }

  @Test(
    arguments: [
      ("\\n", [10]), ("\\0", [0]), ("\\t;", [9, 59]), ("\\\\", [92]), (",", [44]), ("", nil), ("\\q", nil), ("\\", nil),
    ] as [(String, [UInt8]?)])
  func aDelimiterHasEscapes(_ text: String, _ bytes: [UInt8]?) {
    #expect(EachRequest.delimiter(text) == bytes)
  }

  @Test func aListIsReadToItsEnd() throws {
    let file = TemporaryFile()
    let text = (0..<50_000).map { "line \($0)\n" }.joined()
    Data(text.utf8).withUnsafeBytes { #expect(pwrite(file.descriptor, $0.baseAddress, $0.count, 0) == $0.count) }
    var splitter = ArgumentSplitter()
    let arguments = try splitter.read(file.descriptor)
    #expect(arguments.count == 50_000 && arguments.last == ListArgument(bytes: Array("line 49999".utf8), place: 50_000))
    #expect(throws: UsageError("can't read standard input: Bad file descriptor")) {
      try splitter.read(-1)
    }
    #expect(throws: UsageError("can't read standard input: Bad file descriptor")) { try ArgumentSplitter.check(-1) }
    let folder = open("/", O_RDONLY)
    defer { close(folder) }
    #expect(throws: UsageError("can't read standard input: Is a directory")) { try ArgumentSplitter.check(folder) }
  }
}
