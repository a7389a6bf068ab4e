import Foundation
import Support
import Testing

/// The walls between the targets: Package.swift says who imports whom, and the compiler does not check all of it.
@Suite struct TargetImportTests {
  private static let sources = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")

  /// The targets that each `module` of Package.swift depends on.
  private static var allowed: [String: Set<String>] {
    get throws {
      let manifest = try String(contentsOf: sources.appending(path: "../Package.swift"), encoding: .utf8)
      let modules = manifest.matches(of: /module\(\s*"(\w+)"(?:,\s*\[([^\]]*)\])?/)
      let pairs = modules.map { (String($0.1), Set(($0.2 ?? "").matches(of: /"(\w+)"/).map { String($0.1) })) }
      return Dictionary(uniqueKeysWithValues: pairs)
    }
  }

  private static func imports(of target: String) throws -> Set<String> {
    var found: Set<String> = []
    let folder = sources.appending(path: target)
    for case let file as String in FileManager.default.enumerator(atPath: folder.path()) ?? .init()
    where file.hasSuffix(".swift") {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      found.formUnion(
        // The expression is slow on every line of the sources.
        text.split(separator: "\n").filter { $0.hasPrefix("import ") || $0.hasPrefix("@") }
          .compactMap { $0.wholeMatch(of: /(?:@\w+ )?import (\w+)/) }.map { String($0.1) })
    }
    return found
  }

  @Test func aTargetImportsOnlyWhatItDependsOn() throws {
    let targets = Set(try FileManager.default.contentsOfDirectory(atPath: Self.sources.path()))
    let allowed = try Self.allowed
    #expect(allowed.count > 15)
    for (target, own) in allowed {
      let others = try Self.imports(of: target).intersection(targets).subtracting(own)
      #expect(others == [], "\(target)")
    }
  }

  @Test func onlyTheClusterTargetKnowsTheEngineAndSlurm() throws {
    let both = try Self.allowed.filter { $0.value.isSuperset(of: ["JobEngine", "Slurm"]) }.map(\.key)
    #expect(both == ["JobCluster"])
  }

  @Test func theDashboardKnowsNeitherTheEngineNorCurses() throws {
    let dashboard = try #require(try Self.allowed["Dashboard"])
    #expect(dashboard.isDisjoint(with: ["JobEngine", "NcursesTerminal"]))
  }
}
