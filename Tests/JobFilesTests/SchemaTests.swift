import Foundation
import Support
import Testing

@testable import JobFiles

/// The JSON Schema of job files.
struct SchemaTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func validator() throws -> SchemaValidator { try SchemaValidator(Data(JobFileSchema.json().utf8)) }

  /// The value of a YAML text, as an editor hands it to a validator.
  private func value(_ text: String) throws -> Any {
    let source = try SourceText(Array(text.utf8), file: "x.yml")
    let node = try YAMLReader.read(source, faults: FaultLog(file: "x.yml", source: source))
    return Self.value(try #require(node))
  }

  private static func value(_ node: YAMLNode) -> Any {
    switch node.content {
    case .list(let items): return items.map(value)
    case .map(let entries):
      return Dictionary(entries.map { ($0.key, value($0.value)) }) { first, _ in first }
    case .scalar(let text, let isPlain):
      if node.isNull { return NSNull() }
      guard isPlain else { return text }
      if ["true", "True", "TRUE"].contains(text) { return true }
      if ["false", "False", "FALSE"].contains(text) { return false }
      return Int(text).map { $0 as Any } ?? Double(text).map { $0 as Any } ?? text
    }
  }

  /// The examples of the repository by their names.
  private func examples() throws -> [(name: String, text: String)] {
    var found: [(name: String, text: String)] = []
    for folder in ["Demo", "Demo/Scenarios"] {
      let url = Self.root.appending(path: folder)
      for name in try FileManager.default.contentsOfDirectory(atPath: url.path()) where name.hasSuffix(".yml") {
        found.append((name, try String(contentsOf: url.appending(path: name), encoding: .utf8)))
      }
    }
    let jobs = Self.root.appending(path: "Demo/jobs")
    for name in try FileManager.default.contentsOfDirectory(atPath: jobs.path()) {
      found.append((name, try String(contentsOf: jobs.appending(path: "\(name)/opdash.yml"), encoding: .utf8)))
    }
    let article = Self.root.appending(path: "Sources/JobFiles/JobFiles.docc/JobFile.md")
    for (index, part) in try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```").enumerated()
    where part.hasPrefix("yaml\n") {
      found.append(("JobFile.md, block \(index / 2)", String(part.dropFirst(5))))
    }
    return found
  }

  @Test func everyKeyOfTheDecoderIsInTheSchemaAndTheReverse() throws {
    let schema = try #require(JSONSerialization.jsonObject(with: Data(JobFileSchema.json().utf8)) as? [String: Any])
    let definitions = try #require(schema["$defs"] as? [String: Any])
    let all = [
      JobFileKeys.file.form, JobFileKeys.defaults.form, JobFileKeys.job.form, JobFileKeys.finalJob.form,
      JobFileKeys.retry.form, JobFileKeys.retryOutput.form, JobFileKeys.stop.form, JobFileKeys.service.form,
      JobFileKeys.ready.form, JobFileKeys.download.form, JobFileKeys.upload.form, JobFileKeys.simulate.form,
      JobFileKeys.slurm.form, JobFileKeys.fileSlurm.form, JobFileKeys.allocation.form, JobFileKeys.alive.form,
      JobFileKeys.watch.form, JobFileKeys.onFailure.form,
    ]
    var named: Set<String> = ["variable", "text", "flag", "duration", "url", "port"]
    for map in all {
      let isRoot = map.owner == JobFileKeys.file.owner
      let name = JobFileSchema.identifier(of: map)
      let object = try #require((isRoot ? schema : definitions[name]) as? [String: Any], "\(name)")
      let properties = try #require(object["properties"] as? [String: [String: Any]])
      #expect(Set(properties.keys) == Set(map.keys.map(\.name)), "\(name)")
      #expect(object["additionalProperties"] as? Bool == false)
      for (key, property) in properties {
        #expect((property["description"] as? String)?.isEmpty == false, "\(name).\(key)")
      }
      if !isRoot { named.insert(name) }
    }
    // No other map is described, and each that a key leads to is.
    #expect(Set(definitions.keys) == named)
    // The keys of an included file are some of those of the file.
    #expect(Set(JobFileKeys.included.keys).isSubset(of: JobFileKeys.file.keys))
  }

  @Test func aMapIsNamedByItsOwnerWithoutTheArticle() {
    let maps = [
      JobFileKeys.file.form, JobFileKeys.job.form, JobFileKeys.finalJob.form, JobFileKeys.retryOutput.form,
      JobFileKeys.ready.form, JobFileKeys.fileSlurm.form,
    ]
    #expect(
      maps.map(JobFileSchema.identifier) == [
        "job-file", "job", "job-of-finally", "item-of-retry.only", "service.ready", "slurm-of-the-file",
      ])
  }

  @Test func aNumberWithoutALargestHasNone() { #expect(!JobFileSchema.json().contains("\(Int.max)")) }

  @Test(arguments: [
    ("run: ls, retry: 0", true), ("run: ls, retry: 1000000", true), ("run: ls, retry: 1000001", false),
    ("run: ls, retry: { max: 0 }", true), ("run: ls, retry: { max: 1000000 }", true),
    ("run: ls, retry: { max: 1000001 }", false), ("run: ls, retry: { max: -1 }", false),
    ("run: ls, retry: { max: 1, only: [1, 255] }", true), ("run: ls, retry: { max: 1, only: [256] }", false),
    ("run: ls, slurm: { cpus: 1, gpus: 1, nodes: 1 }", true),
    ("run: ls, slurm: { cpus: 1000000, gpus: 1000000, nodes: 1000000 }", true), ("run: ls, slurm: { cpus: 0 }", false),
    ("run: ls, slurm: { gpus: 0 }", false), ("run: ls, slurm: { nodes: 0 }", false),
    ("run: ls, slurm: { cpus: 1000001 }", false), ("run: ls, slurm: { gpus: 1000001 }", false),
    ("run: ls, slurm: { nodes: 1000001 }", false), ("run: ls, uses: { p: 0 }", true), ("run: ls, uses: { p: 1 }", true),
    ("run: ls, uses: { p: -1 }", false), ("simulate: { steps: 1, seed: 0, fail_rate: 0 }", true),
    ("simulate: { steps: 1000000, fail_rate: 1 }", true), ("simulate: { steps: 1000001 }", false),
    ("simulate: { seed: -1 }", false), ("simulate: { fail_rate: -0.1 }", false),
    ("simulate: { fail_rate: 1.1 }", false),
    ("run: ls, service: { ready: { port: 1 } }", true), ("run: ls, service: { ready: { port: 65535 } }", true),
    ("run: ls, service: { ready: { port: 65536 } }", false), ("run: ls, service: { ready: { output: '' } }", false),
    ("run: ls, service: { ready: { output: x } }", true), ("run: ls, stop: { grace: 0 }", true),
    ("run: ls, stop: { grace: 1 }", false),
  ])
  func theSchemaAndTheDecoderHaveTheSameBounds(body: String, isGood: Bool) throws {
    let text = "pools: { p: 1 }\njobs: { j: { \(body) } }"
    #expect(try validator().faults(in: value(text)).isEmpty == isGood)
    #expect(faults(text).isEmpty == isGood)
  }

  @Test(arguments: [("slots: 1", true), ("slots: 100000", true), ("slots: 100001", false), ("slots: -1", false)])
  func theSlotsHaveTheSameBoundsToo(head: String, isGood: Bool) throws {
    let text = "\(head)\njobs: { j: ls }"
    #expect(try validator().faults(in: value(text)).isEmpty == isGood)
    #expect(faults(text).isEmpty == isGood)
  }

  @Test func everyReferenceOfTheSchemaLeadsSomewhere() throws {
    let text = JobFileSchema.json()
    let schema = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let definitions = try #require(schema["$defs"] as? [String: Any])
    let names = text.matches(of: /"#\/\$defs\/([^"]+)"/).map { String($0.1) }
    #expect(Set(names) == Set(definitions.keys))
    #expect(schema["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
  }

  @Test func everyExampleOfTheRepositoryIsValid() throws {
    let validator = try validator()
    let examples = try examples()
    #expect(examples.count >= 20)
    for example in examples {
      #expect(validator.faults(in: try value(example.text)).isEmpty, "\(example.name)")
    }
  }

  @Test func everyExampleOfTheReferenceHasNoFaults() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: folder.file("ci"), withIntermediateDirectories: false)
    try Data("jobs: { build: make }".utf8).write(to: folder.file("ci/common.yml"))
    try Data("jobs: { publish: make publish }".utf8).write(to: folder.file("ci/release.yml"))
    let digits = String(repeating: "0", count: 64)
    let blocks = try examples().filter { $0.name.hasPrefix("JobFile.md") }
    #expect(blocks.count >= 11)
    for block in blocks {
      #expect(throws: Never.self, "\(block.name)") {
        try JobFile.decode(
          Array(block.text.replacing("\"…\"", with: "'\(digits)'").utf8), file: "x.yml", directory: folder.url.path,
          environment: ["NPM_TOKEN": "t"])
      }
    }
  }

  @Test(arguments: [
    "{ run: ls }", "{ run: [a, 1, true] }", "{ run: ls, timeout: 1h30m, silence: 0.5s, tty: true }",
    "{ run: ls, stderr: apart }",
    "{ run: ls, timeout: '${t}', retry: '${n}', tty: '${b}', priority: '${p}' }", "{ run: ls, x-note: [{ a: 1 }] }",
    "{ run: ls, retry: { max: 1, only: [network, 429, 5xx, 75, { output: x }] } }",
    "{ run: ls, retry: { max: 1, only: exit } }",
    "{ run: ls, service: true }", "{ run: ls, service: { ready: 'http://h', restart: always } }",
    "{ run: ls, service: { ready: { port: '[::1]:80', every: 1s } } }", "{ run: ls, service: { ready: { port: 80 } } }",
    "{ run: ls, stop: { signal: sigint, grace: 0 } }", "{ run: ls, needs: a, env: { A: 1, B: x, C: true } }",
    "{ run: ls, needs: { a: finished, b: ok } }", "ls -l", "{ run: ls, if: '${env.CI:-x}' }",
    "{ run: ls, matrix: { os: [linux, mac], arch: [x64, 32], exclude: [{ os: mac, arch: 32 }] } }",
    "{ run: ls, shell: bash }", "{ run: ls, shell: [bash, -c] }",
    "{ download: 'HTTPS://h/x', approve: 'yes' }", "{ download: { url: '${u}', headers: { A: b } }, approve: 'Go?' }",
    "{ upload: { file: x, url: 'http://h', method: POST } }", "{ simulate: { fail_rate: 0.5, steps: 3, seed: 7 } }",
  ])
  func aGoodJobIsValid(job: String) throws {
    let text = "jobs: { j: \(job), a: { run: ls }, b: { run: ls } }"
    #expect(try validator().faults(in: value(text)).isEmpty)
    // The schema promises nothing that the decoder refuses.
    let vars = "vars: { t: 1s, n: 1, b: true, p: low, u: 'http://h/x' }\n"
    #expect(throws: Never.self) {
      try JobFile.decode(Array((vars + text).utf8), file: "x.yml", directory: "/", environment: [:])
    }
  }

  @Test(arguments: [
    "{ rnu: ls }", "{}", "5", "{ run: ls, download: 'http://h/x' }", "{ run: { a: b } }", "{ run: ls, timeout: 10 }",
    "{ run: ls, timeout: 10 minutes }", "{ run: ls, timeout: '' }", "{ run: ls, retry: -1 }",
    "{ run: ls, retry: { mx: 1 } }",
    "{ run: ls, retry: { max: 1, only: [0] } }", "{ run: ls, retry: { max: 1, only: [{ x: y }] } }",
    "{ run: ls, retry: { max: 1, only: [503] } }", "{ run: ls, priority: hihg }", "{ run: ls, allow_failure: yes }",
    "{ run: ls, uses: [net] }", "{ run: ls, env: [A] }", "{ run: ls, env: { A: [b] } }",
    "{ run: ls, stop: { signal: TREM } }",
    "{ run: ls, progress: 5 }", "{ run: ls, shell: cmd.exe }", "{ run: ls, service: 5 }",
    "{ run: ls, service: { ready: { port: 0 } } }",
    "{ run: ls, service: { ready: { port: ':80' } } }", "{ run: ls, service: { restart: no } }",
    "{ run: ls, tty: maybe }", "{ run: ls, stderr: true }",
    "{ download: ftp://h/x }", "{ download: { ulr: http://h/x } }", "{ download: 'http://h/x', dir: x }",
    "{ simulate: {}, service: true }", "{ upload: http://h/x }", "{ upload: { method: GET } }",
    "{ simulate: { steps: 0 } }",
    "{ simulate: { steps: 1.5 } }", "{ simulate: { fail_rate: 2 } }", "{ run: ls, when: ok }",
    "{ run: ls, matrix: [a] }",
    "{ run: ls, needs: { a: okay } }",
    "{ run: ls, needs: [[a]] }", "{ run: ls, approve: true }", "{ run: ls, approve: 5 }",
  ])
  func aBrokenJobIsNot(job: String) throws {
    #expect(try !validator().faults(in: value("jobs: { j: \(job) }")).isEmpty)
  }

  @Test(arguments: [
    "vars: { a: [b] }", "version: 2", "slots: 0", "slots: many", "on_failure: stop", "schedule: lifo", "jobs: [a]",
    "defaults: { run: ls }", "pools: { net: 0 }", "secrets: { A: b }", "include: [[a]]", "dotenv: { A: b }", "job: {}",
    "timeout: soon", "shell: 5", "finally: { a: { run: ls, when: never } }", "finally: { a: { when: ok } }",
    "finally: [a]", "[a]", "x",
  ])
  func aBrokenFileIsNot(text: String) throws {
    #expect(try !validator().faults(in: value(text)).isEmpty)
  }
}
