import JobFiles
import JobModel
import Testing

/// The keys of the file itself, and the values that the command line gives.
struct JobFileDecoderTests {
  private func faults(_ text: String, vars: [String: String]) -> [String] {
    do throws(JobFileFaults) {
      _ = try JobFile.decode(Array(text.utf8), file: "ci.yml", directory: "/jobs", vars: vars)
      return []
    } catch {
      return error.faults.map { "\($0.line):\($0.column): \($0.message)" }
    }
  }

  @Test func aValueOfTheCommandLineIsForAVarOfTheFile() {
    let text = "vars: { ver: 1 }\njobs: { a: { run: ls } }"
    #expect(faults(text, vars: ["ver": "2"]).isEmpty)
    #expect(
      faults(text, vars: ["vre": "2", "ver": "3"]) == [
        "1:7: --set names 'vre', which is not a var of this file: did you mean 'ver'?"
      ])
    #expect(
      faults("jobs: { a: { run: ls } }", vars: ["x": "1", "b c": ""]) == [
        "1:1: --set names 'b c', which is not a var of this file: declare it under vars",
        "1:1: --set names 'x', which is not a var of this file: declare it under vars",
      ])
  }

  @Test func thereMayBeAsManySlotsAsTheLimit() throws {
    #expect(try graph("slots: 1\njobs: { a: { run: ls } }").slots == 1)
    #expect(try graph("slots: 100000\njobs: { a: { run: ls } }").slots == 100_000)
    #expect(JobFilesTests.faults("slots: 100001\njobs: { a: { run: ls } }") == ["1:8: slots takes at most 100000"])
  }

  @Test(arguments: ["auto", "Max", "ALL", "unlimited"])
  func aWordForAllProcessorsIsToldTheDefault(word: String) {
    let fault =
      "1:8: slots takes a whole number, 1 or more; this is '\(word)': "
      + "delete the line for as many as there are processors"
    #expect(JobFilesTests.faults("slots: \(word)\njobs: { a: { run: ls } }") == [fault])
  }

  @Test func keysWithoutAValueSetNothing() throws {
    let graph = try graph("vars:\nenv:\npools:\ndefaults:\njobs: { a: { run: ls } }")
    #expect(graph.pools.isEmpty)
    #expect(graph.jobs == [Job(name: "a", work: .shell(ShellWork(.script("ls"), directory: "/jobs")))])
  }

  @Test func aCommandBesideJobsIsAnUnknownKeyLikeAnyOther() {
    let found = JobFilesTests.faults("jobs: { a: { run: ls } }\nweb: ./serve -p\n")
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("2:1: unknown key 'web': a job file can have version, name, ") == true, "\(found)")
  }

  @Test func aKeyOfAnotherToolIsNoCommand() {
    #expect(
      JobFilesTests.faults("title: a b\nnaem: a b\nweb: ./serve") == [
        "1:1: unknown key 'title': write 'name'", "2:1: unknown key 'naem': did you mean 'name'?",
        "3:1: unknown key 'web': write a command as a job, 'jobs: { web: { run: ./serve } }'",
      ])
  }
}
