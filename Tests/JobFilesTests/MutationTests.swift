import JobFiles
import JobModel
import Screen
import Support
import Testing

/// Good files with bytes changed at random: whatever comes in, the answer is what the file says or a fault inside it.
@Suite struct MutationTests {
  private static let seeds = [
    #"""
    version: 1
    vars: { ver: "4.2", base: "http://127.0.0.1:8080" }
    env: { LANG: C.UTF-8 }
    pools: { net: 4 }
    x-t: &t { timeout: 3s, retry: { max: 2, only: [network, 5xx, 7, { output: x }] } }
    defaults: { timeout: 10m, retry: 1 }
    shell: [bash, -c]
    secrets: [HOME]
    jobs:
      api: { run: ./api, tty: true, service: { ready: { port: 'h:80', every: 1s }, restart: always }, approve: "Go ${ver}?" }
      get: { <<: *t, download: { url: "${base}/a-${ver}", to: a.bin }, uses: { net: 1 } }
      build:
        needs: [get]
        run: |
          echo "${ver}" ${HOME} $${x}
        env: { A: 'é' }
        stderr: apart
        progress: '(\d+)/(\d+)'
      up: { needs: { build: finished }, upload: { file: a.bin, url: "${base}/up" } }
      sim: { simulate: { duration: 1s, steps: 3, fail_rate: 0.5, seed: 7 } }
    """#,
    #"""
    vars: { on: "true" }
    jobs:
      get: { matrix: { os: [linux, mac], arch: [x64, arm], exclude: { os: mac, arch: x64 } }, run: "get ${matrix.os}" }
      test: "make test"
      use:
        matrix: { os: [linux, mac] }
        needs: { "get[${matrix.os},*]": ok, "te?t*": finished }
        if: ${on} == true && '${env.X}' != "a b" || !${matrix.os}
        run: use ${jobs.test.path} ${jobs.get[${matrix.os},arm].v}
    finally:
      page: { when: failed, run: ./page ${jobs.use[linux].v} }
      clean: { needs: page, run: rm }
    """#,
    #"{"jobs": {"a": {"run": ["x", "\u00e9", "\ud83d\ude00"]}, "b": {"needs": ["a"], "simulate": {"steps": 2}}}}"#,
  ].map { Array($0.utf8) }

  private static let tokens = [
    "\n", "\t", " ", ": ", "- ", "{", "}", "[", "]", "${", "}", "$", "&a ", "*a", "*t", "<<: ", "'", "\"", "\\", "|",
    ">", "#",
    "---\n", "...\n", "!!str ", "%YAML", "\0", "\u{FEFF}", "é", "\u{2028}", "? ", "~", "9999999999999999999", "needs",
    "==", "!", "||", "matrix", "${matrix.os}", "${jobs.a.v}", "?", ",",
  ].map { Array($0.utf8) }

  @Test(arguments: 0..<8)
  func aChangedFileGivesAGraphOrAFaultInsideIt(part: Int) {
    var random = SplitMix(seed: UInt64(part + 1))
    for _ in 0..<1000 {
      var bytes = Self.seeds[Int(random.next() % UInt64(Self.seeds.count))]
      for _ in 0...Int(random.next() % 4) { Self.change(&bytes, &random) }
      Self.check(bytes)
    }
  }

  private static let settings = Array(
    """
    keys: { cancel: [d, F9], kill: "^K", log: [], help: ["?", h] }
    colors:
      failed: "#ff8700 on 0 bold"
      executing: bright-blue underline
    background: light
    notify: message
    mouse: false
    x-t: &t [a, b]
    """.utf8)

  @Test(arguments: 0..<4)
  func aChangedSettingsFileGivesSettingsOrAFaultInsideIt(part: Int) {
    let vocabulary: SettingsFile.Vocabulary = (
      actions: ["cancel", "kill", "log", "help"].map {
        (name: $0, keys: [.character($0.first ?? "x")], isNeeded: $0 == "help")
      }, elements: ["failed", "executing"]
    )
    var random = SplitMix(seed: UInt64(part + 100))
    for _ in 0..<1000 {
      var bytes = Self.settings
      for _ in 0...Int(random.next() % 4) { Self.change(&bytes, &random) }
      do throws(JobFileFaults) {
        let settings = try SettingsFile.decode(bytes, file: "f", vocabulary)
        let keys = settings.keys.values.joined()
        if Set(keys).count != keys.count || settings.keys["help"]?.isEmpty == true {
          Issue.record("keys that can't be: \(Self.shown(bytes))")
        }
      } catch {
        Self.check(error, of: bytes)
      }
    }
  }

  private static func change(_ bytes: inout [UInt8], _ random: inout SplitMix) {
    func place(_ count: Int) -> Int { Int(random.next() % UInt64(max(1, count))) }
    let at = place(bytes.count + 1)
    let end = min(bytes.count, at + place(12))
    switch random.next() % 5 {
    case 0: bytes.removeSubrange(at..<end)
    case 1: bytes.insert(contentsOf: bytes[at..<end], at: place(bytes.count + 1))
    case 2: bytes.insert(contentsOf: tokens[place(tokens.count)], at: at)
    case 3 where at < bytes.count: bytes[at] = UInt8(truncatingIfNeeded: random.next())
    default: bytes.removeSubrange(end...)
    }
  }

  private static func check(_ bytes: [UInt8]) {
    do throws(JobFileFaults) {
      let graph = try JobFile.decode(bytes, file: "f", directory: "/d", environment: ["HOME": "/h"])
      if graph.hasCycle || graph.jobs.isEmpty { Issue.record("a graph that can't run: \(shown(bytes))") }
    } catch {
      check(error, of: bytes)
    }
  }

  private static func check(_ error: JobFileFaults, of bytes: [UInt8]) {
    let lines = lines(of: bytes)
    for fault in error.faults {
      let isInside =
        (1...lines.count).contains(fault.line) && (1...(lines[fault.line - 1] + 1)).contains(fault.column)
      if !isInside { Issue.record("\(fault) is outside of: \(shown(bytes))") }
      if fault.lines(width: 40).dropFirst().contains(where: { TextWidth.of($0) > 40 }) {
        Issue.record("\(fault) has a line wider than 40 cells: \(shown(bytes))")
      }
      if fault.message.contains("this is not YAML") {
        Issue.record("\(fault) is not in plain words: \(shown(bytes))")
      }
    }
  }

  /// The number of characters of each line; bytes that are no UTF-8 count as characters at most once each.
  private static func lines(of bytes: [UInt8]) -> [Int] {
    var text = String(decoding: bytes, as: UTF8.self)
    for mark in ["\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"] { text = text.replacing(mark, with: "\n") }
    return text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(\.count)
  }

  private static func shown(_ bytes: [UInt8]) -> String { String(reflecting: String(decoding: bytes, as: UTF8.self)) }
}
