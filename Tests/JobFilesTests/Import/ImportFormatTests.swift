import Foundation
import JobModel
import Support
import Testing

@testable import JobFiles

/// Whatever a file of another tool holds: the answer is a job file without faults, or a fault inside of the file.
@Suite struct ImportFormatTests {
  private static let seeds: [(ImportFormat, String)] = [
    (
      .procfile,
      """
      # c
      web: bin/web -p $PORT ${X:-y}
      worker-2:   run 'a b' "c" # d
      x: y
      """
    ),
    (
      .ninja,
      """
      pool p
        depth = 2
      a = 1
      rule r
        command = c $in > $out $a ${x} $$ $
            more
        description = D $out
        rspfile = $out.rsp
        rspfile_content = $in_newline
        depfile = $out.d
        pool = p
      include sub/x.ninja
      subninja sub/y.ninja
      build o/a$ 1 | b: r i$:n ../q || z |@ v
        x = $a$a
      build z: phony d c*
      build v [w]: r ~
        pool = console
      build all: phony z
      default all v
      """
    ),
    (
      .compose,
      """
      vars: { A: "1" }
      environment: ["K=${HOME}"]
      processes:
        a:
          command: "x {{.A}} $$Y ${Z} {{.PC_REPLICA_NUM}}"
          replicas: 2
          working_dir: "~/b"
          readiness_probe: { http_get: { port: 80, path: /h }, period_seconds: 2, failure_threshold: 3 }
          availability: { restart: always, max_restarts: 3 }
          shutdown: { signal: 2, timeout_seconds: 3 }
        b:
          command: |
            one
              two ${x}
          depends_on: { a: { condition: process_healthy }, c: { condition: process_completed } }
          env_file: e.env
        c: { entrypoint: [c, "", "${Q}"], description: "it's: é #", disabled: true }
        d: { command: d, ready_log_line: "up [1]", liveness_probe: { exec: { command: e, working_dir: f } } }
      """
    ),
  ]

  private static let tokens = [
    "\n", " ", "  ", ":", ": ", "|", "||", "|@", "$", "$\n", "${", "}", "$$", "=", " = ", "#", "'", "\"", "\t", "\r",
    "\\",
    "build ", "rule ", "default ", "include sub/x.ninja\n", "subninja ", "phony", "console", "{{.A}}", "{{", "[", "]",
    "{", "}",
    ",", "- ", "&a ", "*a", "<<: ", "~", "é", "{\u{301}", "\u{202E}", "\u{3164}", "\0", "9999999999999999999999", "-1",
    "<<",
    "process_started", "command", "${env.HOME}", "${jobs.a.b}", "PORT", "\u{2028}", "*", "?",
  ].map { Array($0.utf8) }

  @Test(arguments: ImportFormat.allCases, 0..<4)
  func aChangedFileGivesAJobFileOrAFaultInsideIt(format: ImportFormat, part: Int) throws {
    var random = SplitMix(seed: UInt64(part + 1))
    let seed = Array(try #require(Self.seeds.first { $0.0 == format }).1.utf8)
    var read = 0
    for _ in 0..<400 {
      var bytes = seed
      for _ in 0...Int(random.next() % 2) { Self.change(&bytes, &random) }
      if Self.check(format, bytes) { read += 1 }
    }
    // The changes are small enough that much of what they test is printed.
    #expect(read > 20)
  }

  /// Whether the file was read.
  private static func check(_ format: ImportFormat, _ bytes: [UInt8]) -> Bool {
    let others = [
      "/d/.env": "PORT=4000\n", "/d/e.env": "X=1\n", "/d/sub/x.ninja": "rule s\n  command = s\nbuild s$a: s t\n",
      "/d/sub/y.ninja": "a = 2\nbuild t$a: r s1\n",
    ]
    let shown = String(reflecting: String(decoding: bytes, as: UTF8.self))
    let text: String
    do throws(JobFileFaults) {
      text = try format.jobFile(
        bytes, file: "f", directory: "/d", read: { others[$0].map { Array($0.utf8) } })
    } catch {
      let source = String(decoding: bytes, as: UTF8.self)
      var lines = source
      for mark in ["\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"] { lines = lines.replacing(mark, with: "\n") }
      let counts = lines.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(\.count)
      for fault in error.faults where fault.file == "f" {
        let isInside =
          (1...counts.count).contains(fault.line) && (1...(counts[fault.line - 1] + 1)).contains(fault.column)
        if !isInside { Issue.record("\(fault) is outside of: \(shown)") }
      }
      return false
    }
    do throws(JobFileFaults) {
      // The files of variables are not those of this machine.
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("dotenv:") }
      let graph = try JobFile.decode(
        Array(lines.joined(separator: "\n").utf8), file: "opdash.yml", directory: "/d", environment: ["HOME": "/h"])
      if graph.hasCycle || graph.jobs.isEmpty { Issue.record("a graph that can't run: \(shown)") }
    } catch {
      Issue.record("\(error) in\n\(text)\nof \(shown)")
    }
    return true
  }

  private static func change(_ bytes: inout [UInt8], _ random: inout SplitMix) {
    func place(_ count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }
    let at = place(bytes.count + 1)
    let end = min(bytes.count, at + place(12))
    switch random.next() % 5 {
    case 0: bytes.removeSubrange(at..<end)
    case 1: bytes.insert(contentsOf: bytes[at..<end], at: place(bytes.count + 1))
    case 2, 3: bytes.insert(contentsOf: tokens[place(tokens.count)], at: at)
    default: bytes.removeSubrange(end...)
    }
  }
}
