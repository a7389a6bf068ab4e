import Foundation
import Support
import Testing

/// Files of other tools that are imported and run, beside the tool itself where it is there.
struct ImportProgramTests {
  private let place: Workplace
  private static let ninja = ["/usr/bin/ninja", "/usr/local/bin/ninja"].first(
    where: FileManager.default.isExecutableFile)

  init() throws { place = try Workplace() }

  private static let build = """
    tool = tr a-z
    rule upper
      command = $tool A-Z < $in > $out
      description = UPPER $out
    rule join
      command = cat $$(cat $out.rsp) > $out; test -s $out
      rspfile = $out.rsp
      rspfile_content = $in_newline
    pool one
      depth = 1
    build out/a$ 1.txt: upper a.txt
    build out/sub/b.txt: upper b.txt || pre
      pool = one
    build out/pre.txt: upper c.txt
    build pre: phony out/pre.txt
    build it's.txt: join out/sub/b.txt out/pre.txt | out/a$ 1.txt
    build other.txt: upper missing
    build all: phony it's.txt
    default all

    """

  private func prepare() throws {
    for name in ["a", "b", "c"] { try place.write("text of \(name)\n", to: "\(name).txt") }
    try place.write(Self.build, to: "build.ninja")
  }

  @Test func aBuildIsMadeOnceAndThenUpToDate() throws {
    try prepare()
    let run = try place.script(
      "\"$OPDASH\" import ninja build.ninja >opdash.yml && \"$OPDASH\" check && \"$OPDASH\" run --ui plain")
    #expect(run.ending() == .exited(0), "\(run.outputText)\(run.errorText)")
    #expect(place.contents("it's.txt") == Data("TEXT OF B\nTEXT OF C\n".utf8))
    #expect(place.contents("out/a 1.txt") == Data("TEXT OF A\n".utf8))
    #expect(!place.has("other.txt") && !place.has("it's.txt.rsp"))
    #expect(try place.run("run", "-n").outputText.contains("0 of 5 jobs would run, 5 up to date"))
    try place.write("other\n", to: "b.txt")
    #expect(try place.run("run", "--ui", "plain").ending() == .exited(0))
    #expect(place.contents("it's.txt") == Data("OTHER\nTEXT OF C\n".utf8))
  }

  @Test(.enabled(if: ImportProgramTests.ninja != nil, "there is no ninja"))
  func ninjaMakesTheSameFilesAndFindsThemUpToDate() throws {
    try prepare()
    let ninja = try #require(Self.ninja)
    let run = try place.script(
      """
      mkdir n o && cp *.txt build.ninja n && cp *.txt build.ninja o && (cd n && \(ninja) >/dev/null) &&
      (cd o && "$OPDASH" import ninja build.ninja >opdash.yml && "$OPDASH" run --ui quiet) &&
      rm n/.ninja_* && diff -r -x opdash.yml n o
      """)
    #expect(run.ending() == .exited(0), "\(run.outputText)\(run.errorText)")
    // What ninja has made is up to date for opdash, which compares times where no run is recorded.
    let other = try place.script("cd n && \"$OPDASH\" import ninja build.ninja >opdash.yml && \"$OPDASH\" run -n")
    #expect(other.outputText.contains("0 of 5 jobs would run, 5 up to date"), "\(other.outputText)")
  }

  @Test func aProcfileRunsUntilOneFails() throws {
    try place.write(
      "web: echo $PORT $KEY >web; sleep 600\nlast: while ! test -s web; do sleep 0.02; done; exit 3\n", to: "Procfile")
    try place.write("KEY='a b'\nPORT=7000\n", to: ".env")
    let run = try place.script("\"$OPDASH\" import procfile Procfile >opdash.yml && \"$OPDASH\" run --ui plain")
    #expect(run.ending() == .exited(1), "\(run.outputText)\(run.errorText)")
    #expect(place.contents("web") == Data("7000 a b\n".utf8))
  }

  @Test func processesWaitForEachOther() throws {
    try place.write(
      """
      processes:
        db:
          command: "trap 'echo stopped >>log; exit' INT; >trapped; while :; do sleep 0.02; done"
          readiness_probe: { exec: { command: "test -e trapped && echo asked >>log" }, period_seconds: 1 }
          shutdown: { signal: 2 }
        migrate: { command: "echo migrated >>log", depends_on: { db: { condition: process_healthy } } }
        test:
          command: "echo tested $$NAME ${HOME:+x}>>log"
          environment: ["NAME={{.A}}"]
          vars: { A: value }
          depends_on: { migrate: { condition: process_completed_successfully }, db: { condition: process_started } }
          availability: { exit_on_end: true }

      """, to: "pc.yaml")
    let run = try place.script(
      "\"$OPDASH\" import compose pc.yaml >opdash.yml 2>warnings && \"$OPDASH\" run --ui plain")
    #expect(run.ending() == .exited(0), "\(run.outputText)\(run.errorText)")
    let log = String(decoding: place.contents("log") ?? Data(), as: UTF8.self).split(separator: "\n")
    #expect(log == ["asked", "migrated", "tested value", "stopped"], "\(run.outputText)\(run.errorText)")
  }
}
