import Foundation
import Operations
import Support
import Testing

@testable import Processes

@Suite struct LaunchEnvironmentTests {
  /// Kept, because what they have copied is never freed.
  private static let made = Lock<[LaunchEnvironment]>([])

  /// The environment of a process with these variables, `NAME=value`, whose cookie is `c-1`.
  private func environment(_ variables: String...) -> LaunchEnvironment {
    var pointers = variables.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    let environment = LaunchEnvironment(cookie: "c-1", of: &pointers)
    Self.made.withLock { $0.append(environment) }
    return environment
  }

  /// The variables that launch 7 gets, sorted; nil if it can't be given them.
  private func variables(_ environment: LaunchEnvironment, _ launch: ProcessEnvironment) -> [String]? {
    environment.withPointers(launch: 7, launch) { pointers in
      var texts: [String] = []
      while let text = pointers?[texts.count] { texts.append(String(cString: text)) }
      return texts.sorted()
    }
  }

  // MARK: Variables

  @Test func theVariablesOfThisProcessArePassedOnBesideTheCookie() {
    let environment = environment("A=1", "B=x=y", "NOTHING", "C=")
    #expect(variables(environment, .inherited) == ["A=1", "B=x=y", "C=", "OPDASH_RUN=c-1/7"])
    #expect(variables(environment, .only(["A": "2"])) == ["A=2", "OPDASH_RUN=c-1/7"])
  }

  @Test func aVariableIsReplacedOrRemovedByItsWholeName() {
    let environment = environment("A=1", "AB=2", "B=3")
    let launch = ProcessEnvironment.inherited(adding: ["A": "4"], removing: ["B"])
    #expect(variables(environment, launch) == ["A=4", "AB=2", "OPDASH_RUN=c-1/7"])
  }

  @Test func aRunWithinARunIsFoundByBothCookies() {
    let environment = environment("OPDASH_RUN=o-2/3", "A=1")
    #expect(variables(environment, .inherited) == ["A=1", "OPDASH_RUN=o-2/3:c-1/7"])
    #expect(variables(environment, .only([:])) == ["OPDASH_RUN=o-2/3:c-1/7"])
    // Nobody can give a process another one.
    #expect(variables(environment, ["OPDASH_RUN": "x"]) == ["A=1", "OPDASH_RUN=o-2/3:c-1/7"])
  }

  @Test(arguments: [
    (" -j3 --jobserver-auth=3,4", " -j3"), (" -j --jobserver-fds=3,4 -j3", " -j -j3"),
    ("kw -j3 --jobserver-auth=-2,-2 -- A=1", "kw -j3 -- A=1"), ("w", "w"), ("", ""),
    // A FIFO has a path, which every program can open.
    (" -j3 --jobserver-auth=fifo:/tmp/GMfifo1", " -j3 --jobserver-auth=fifo:/tmp/GMfifo1"),
    // A variable of make.
    (" -j2 --jobserver-auth=5,6 -- FLAGS=a\\ --jobserver-auth=3,4", " -j2 -- FLAGS=a\\ --jobserver-auth=3,4"),
  ]) func theFlagsOfMakeNameNoDescriptorsOfThisProcess(flags: String, clean: String) {
    let environment = environment("MAKEFLAGS=\(flags)", "CARGO_MAKEFLAGS=\(flags)", "MFLAGS=\(flags)", "OTHER=\(flags)")
    #expect(
      variables(environment, .inherited)
        == [
          "CARGO_MAKEFLAGS=\(clean)", "MAKEFLAGS=\(clean)", "MFLAGS=\(clean)", "OPDASH_RUN=c-1/7", "OTHER=\(flags)",
        ])
  }

  @Test(arguments: [["": "x"], ["a=b": "x"], ["a=\u{338}": "x"], ["a\0": "x"], ["a": "x\0y"]])
  func whatNoProgramCanBeGivenIsRefused(added: [String: String]) {
    #expect(variables(environment("A=1"), .inherited(adding: added)) == nil)
  }

  // MARK: Programs

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["one", "two", "none"] {
      try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
    }
  }

  private func add(_ file: String, mode: mode_t = 0o755) throws {
    try Data().write(to: folder.file(file))
    #expect(chmod(folder.file(file).path(), mode) == 0)
  }

  private func path(_ names: String...) -> String { names.map { folder.file($0).path() }.joined(separator: ":") }

  private func program(
    _ name: String, path: String, from directory: String? = nil
  ) -> Result<String, ProcessError> {
    Result { () throws(ProcessError) in
      try environment().program(named: name, in: .only(["PATH": path]), from: directory)
    }
  }

  @Test func aNameWithASlashIsTheProgram() {
    for name in ["/no/such/tool", "./tool", "one/tool"] {
      #expect(program(name, path: path("one"), from: "/") == .success(name))
    }
  }

  @Test func theFirstExecutableFileInThePathIsTheProgram() throws {
    try add("two/tool")
    #expect(program("tool", path: path("none", "two", "one")) == .success(path("two") + "/tool"))
    try add("one/tool", mode: 0o644)
    #expect(program("tool", path: path("one", "two")) == .success(path("two") + "/tool"))
    try add("one/tool")
    #expect(program("tool", path: path("one", "two")) == .success(path("one") + "/tool"))
  }

  @Test func aFolderIsNoProgram() throws {
    let name = "tool"
    try FileManager.default.createDirectory(at: folder.file("one/tool"), withIntermediateDirectories: true)
    let fault = ProcessError(.programNotFound, "tool: no such program in PATH")
    #expect(program(name, path: path("one", "none")) == .failure(fault))
    try add("two/tool")
    #expect(program(name, path: path("one", "two")) == .success(path("two") + "/tool"))
  }

  @Test func theFirstFileThatCannotBeExecutedIsNamed() throws {
    for name in ["one/tool", "two/tool"] { try add(name, mode: 0o644) }
    let fault = ProcessError.notExecutable(path("one") + "/tool")
    #expect(program("tool", path: path("none", "one", "two")) == .failure(fault))
  }

  @Test func relativeFoldersAreThoseOfTheProgramsDirectory() throws {
    try add("one/tool")
    let directory = folder.url.path()
    #expect(program("tool", path: "none:one", from: directory) == .success("one/tool"))
    #expect(program("tool", path: path("none") + "::", from: directory + "/one") == .success("./tool"))
    #expect(program("tool", path: path("one"), from: directory + "/two") == .success(path("one") + "/tool"))
  }

  @Test func thePathIsTheProgramsOwn() throws {
    for name in ["one/tool", "two/tool"] { try add(name) }
    let environment = environment("PATH=" + path("one"))
    func program(_ launch: ProcessEnvironment, _ name: String = "tool") -> String? {
      try? environment.program(named: name, in: launch, from: nil)
    }
    #expect(program(.inherited) == path("one") + "/tool")
    #expect(program(["PATH": path("two")]) == path("two") + "/tool")
    // Without one, where the system's programs are.
    for launch in [ProcessEnvironment.only([:]), .inherited(adding: [:], removing: ["PATH"])] {
      #expect(program(launch) == nil)
      #expect(program(launch, "sh")?.hasSuffix("/bin/sh") == true)
    }
  }
}
