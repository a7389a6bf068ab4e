import JobModel
import Testing

/// The keys `creates` and `inputs`.
@Suite struct FileListsTests {
  @Test func pathsAreRelativeToTheJobFileWhateverTheFolderOfTheJob() throws {
    let job = try job(
      """
      run: make
      dir: src
      creates: [out/app, ./out/../out/lib/, /var/x]
      inputs: ["src/**/*.c", ../common/h, "/etc/*.conf"]
      """)
    #expect(job.creates == ["/jobs/out/app", "/jobs/out/lib", "/var/x"])
    #expect(job.inputs == ["/jobs/src/**/*.c", "/common/h", "/etc/*.conf"])
  }

  @Test func oneOfThemNeedsNoList() throws {
    let job = try job("run: make\ncreates: a\ninputs: b")
    #expect(job.creates == ["/jobs/a"])
    #expect(job.inputs == ["/jobs/b"])
  }

  @Test func variablesArePutIn() throws {
    let job = try job("run: make\ncreates: ['${ver}/a']\ninputs: ['${env.HOME}/*.c']", head: "vars: { ver: 4.2 }")
    #expect(job.creates == ["/jobs/4.2/a"])
    #expect(job.inputs == ["/home/ann/*.c"])
  }

  @Test func namesThatLookTheSameAreTwoPaths() throws {
    let job = try job("run: make\ncreates: ['\u{E9}', 'e\u{301}']\ninputs: ['\u{E9}', 'e\u{301}']")
    for paths in [job.creates, job.inputs] {
      #expect(paths.map { Array($0.utf8) } == [Array("/jobs/\u{E9}".utf8), Array("/jobs/e\u{301}".utf8)])
    }
  }

  @Test func aJobWithoutThemHasNone() throws {
    let job = try job("run: make")
    #expect(job.creates.isEmpty)
    #expect(job.inputs.isEmpty)
  }

  @Test func inputsNeedNoCreates() throws {
    #expect(try job("run: make test\ninputs: src").inputs == ["/jobs/src"])
  }

  @Test(arguments: [
    (
      "creates: []",
      "2:17: creates is empty: it takes the path of a file or folder, or a list of paths; delete it if there is none"
    ),
    (
      "inputs: []",
      "2:16: inputs is empty: it takes a path, a pattern as 'src/**/*.c', or a list of these; delete it if there is none"
    ),
    (
      "creates: { a: b }",
      "2:17: creates takes the path of a file or folder, or a list of paths; this is a map"
    ),
    (
      "creates: ['out/*.o']",
      "2:18: creates takes paths without wildcards; 'out/*.o' is a pattern: write each path, or the folder"
    ),
    ("creates: [a, ./a]", "2:21: creates has './a' already: delete one"),
    ("inputs: ['']", "2:17: inputs is empty: it takes a path"),
    ("inputs: ['~/a']", "2:17: inputs: '~' is not expanded here: write ${env.HOME}/a"),
    ("inputs: ['${nix}']", "2:18: unknown variable '${nix}': declare it under vars, or write '$${' for a plain '${'"),
    ("generates: a", "2:8: unknown key 'generates': write 'creates'"),
    ("sources: a", "2:8: unknown key 'sources': write 'inputs'"),
  ])
  func whatIsNoListOfFilesIsRefused(body: String, fault: String) {
    #expect(faults(job: "\(body), run: ls") == [fault])
  }

  @Test(arguments: [
    ("simulate: { steps: 2 }", "a simulate"), ("download: http://h/x", "a download"),
    ("upload: { file: a, url: http://h/x }", "an upload"),
  ])
  func onlyRunJobsHaveThem(work: String, article: String) {
    #expect(
      faults(job: "creates: a, inputs: b, \(work)") == [
        "2:8: 'creates' is for run jobs; this is \(article): delete it",
        "2:20: 'inputs' is for run jobs; this is \(article): delete it",
      ])
  }

  @Test func eachJobHasItsOwn() {
    #expect(
      faults("defaults: { creates: a }\njobs: { a: { run: ls } }") == [
        "1:13: unknown key 'creates': each job has its own: write it into the jobs"
      ])
  }

  @Test func theFilesOfAJobWithoutWorkAreChecked() {
    #expect(
      faults(job: "inputs: []") == [
        "2:3: job 'a' has nothing to do: give it one of run, download, upload or simulate",
        "2:16: inputs is empty: it takes a path, a pattern as 'src/**/*.c', or a list of these; delete it if there is none",
      ])
  }
}
