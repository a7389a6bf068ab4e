import Foundation
import Support
import Testing

/// `Tests/gate`, which decides about a change, on tests that fail on purpose.
struct GateTests {
  private static let binary = CommandLine.arguments[0]
  private static let gate = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../gate").standardized

  private let coins: TemporaryFolder

  init() throws { coins = try TemporaryFolder() }

  /// Executes the tests that `filters` match, of which each fails the first `failures` times.
  private func run(
    _ filters: [String], failures: Int = 0, _ options: [String] = [], crash: Bool = false, gate: URL = Self.gate
  ) throws -> (output: String, ending: ChildProcess.Ending?) {
    var environment = ProcessInfo.processInfo.environment
    environment["OPDASH_COIN"] = coins.url.path()
    environment["OPDASH_COIN_FAILURES"] = "\(failures)"
    environment["OPDASH_COIN_CRASH"] = crash ? "1" : nil
    return try ChildProcess.run(
      ["python3", "-B", gate.path(), "--binary", Self.binary] + options + filters, environment: environment)
  }

  private func executions(of name: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: coins.url.path()).count { $0.hasPrefix(name) }
  }

  @Test func aTestThatPassesTheSecondTimeIsUnstable() throws {
    let (output, ending) = try run(["CoinTests/first"], failures: 1)
    #expect(ending == .exited(0), "\(output)")
    #expect(output.contains(/\nunstable: EndToEndTests\.CoinTests\/first\(\) \(.*\), first failure: .*tails/))
    #expect(output.contains("\n1 passed, 0 failed, 0 skipped\n"), "\(output)")
    #expect(try executions(of: "first") == 2)
  }

  @Test func aTestThatFailsTwiceFailsTheRun() throws {
    let (output, ending) = try run(["CoinTests/(first|second)"], failures: 2)
    #expect(ending == .exited(1), "\(output)")
    #expect(output.contains(/\nfailed: EndToEndTests\.CoinTests\/first\(\) \(.*\): .*tails/), "\(output)")
    #expect(output.contains("\n0 passed, 2 failed, 0 skipped\n"), "\(output)")
    #expect(!output.contains("unstable:"), "\(output)")
    #expect(try executions(of: "first") == 2)
  }

  @Test func threeUnstableTestsPassAndAFourthFailsTheRun() throws {
    #expect(try run(["CoinTests/(first|second|third)"], failures: 1).ending == .exited(0))
    let (output, ending) = try run(["CoinTests"], failures: 3)
    #expect(ending == .exited(1), "\(output)")
    for name in ["first", "second", "third"] { #expect(try executions(of: name) == 4) }
    #expect(try run(["CoinTests/fourth"], failures: 3).ending == .exited(0))
  }

  @Test func fourUnstableTestsFailTheRun() throws {
    let (output, ending) = try run(["CoinTests"], failures: 1)
    #expect(ending == .exited(1), "\(output)")
    #expect(output.split(separator: "\nunstable: ").count == 5, "\(output)")
    #expect(output.contains("4 tests are unstable; more than 3 fail the run"), "\(output)")
  }

  @Test func onceExecutesNoTestAgain() throws {
    let (output, ending) = try run(["CoinTests/first"], failures: 1, ["--once"])
    #expect(ending == .exited(1), "\(output)")
    #expect(try executions(of: "first") == 1)
  }

  @Test func aProcessThatCrashesFailsTheRunAndNamesItsTest() throws {
    let (output, ending) = try run(["CoinTests/first"], crash: true)
    #expect(ending == .exited(1), "\(output)")
    #expect(output.contains(/the process ended in mid-run .*\nunder way were:\n  EndToEndTests\.CoinTests\/first\(\)/))
    #expect(try executions(of: "first") == 1)
  }

  @Test func aFilterThatFitsNothingFailsTheRun() throws {
    let (output, ending) = try run(["NoSuchTests"])
    #expect(ending == .exited(1), "\(output)")
    #expect(output.contains("no test ran"), "\(output)")
  }

  /// A repository in which `Checksums` uses `Basics`, and each has tests, all of which are executed from the real binary.
  private func repository() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let manifest = """
      // swift-tools-version: 6.2
      import PackageDescription
      let package = Package(
        name: "small",
        targets: [
          .target(name: "Basics"), .testTarget(name: "BasicsTests", dependencies: ["Basics"]),
          .target(name: "Checksums", dependencies: ["Basics"]), .testTarget(name: "ChecksumsTests", dependencies: ["Checksums"]),
        ])
      """
    for name in ["Sources/Basics", "Sources/Checksums", "Tests/BasicsTests", "Tests/ChecksumsTests"] {
      try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
      try Data().write(to: folder.file("\(name)/File.swift"))
    }
    try Data(manifest.utf8).write(to: folder.file("Package.swift"))
    try FileManager.default.copyItem(at: Self.gate, to: folder.file("Tests/gate"))
    let script = """
      cd "$0" && git init -q && git add . && git -c user.name=t -c user.email=t@t commit -q -m t &&
        git update-ref refs/remotes/origin/main HEAD
      """
    #expect(try ChildProcess.run(["sh", "-c", script, folder.url.path()]).ending == .exited(0))
    return folder
  }

  @Test(arguments: [
    ("Sources/Basics/File.swift", ["BasicsTests", "ChecksumsTests"]),
    ("Sources/Checksums/New.swift", ["ChecksumsTests"]), ("Tests/BasicsTests/File.swift", ["BasicsTests"]),
    ("Package.swift", ["BasicsTests", "ChecksumsTests"]), ("notes", []),
  ])
  func changedExecutesTheTestsThatAChangeReaches(file: String, expected: [String]) throws {
    let folder = try repository()
    let old = (try? String(contentsOf: folder.file(file), encoding: .utf8)) ?? ""
    try Data((old + "// changed\n").utf8).write(to: folder.file(file))
    let (output, ending) = try run([], ["--changed"], gate: folder.file("Tests/gate"))
    #expect(ending == .exited(0), "\(output)")
    let executed = output.matches(of: /(?m)^(\w+Tests) +\d+ passed/).map { String($0.1) }
    #expect(executed.sorted() == expected, "\(output)")
  }
}
