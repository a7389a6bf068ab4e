import Foundation
import Support
import Testing

/// A release played from the first key to the last, in a real terminal against real servers.
@Suite struct ReleaseTests {
  private static let jobs = 27

  private let nginx: Nginx
  private let broken: RawServer
  private let place: Workplace
  private let sdk: Data
  private let cutoff: [UInt8]
  private let busy: [UInt8]
  private let server = ProcessTable.marker()
  private let stubborn = ProcessTable.marker()

  init() throws {
    nginx = try Nginx()
    sdk = try nginx.add("sdk.bin", size: 12 << 20, seed: 1)
    try nginx.add("manual.bin", size: 3 << 20, seed: 2)
    try nginx.add("fonts.bin", size: 300_000, seed: 3)
    try nginx.add("mirror.bin", size: 200_000, seed: 4)
    let (cutoff, busy) = (randomBytes(500_000, seed: 5), randomBytes(100_000, seed: 6))
    (self.cutoff, self.busy) = (cutoff, busy)
    broken = try Self.brokenServer(cutoff: cutoff, busy: busy)
    place = try Workplace([
      "BASE": "http://127.0.0.1:\(nginx.port)", "BROKEN": "http://127.0.0.1:\(broken.port)",
      "SDK_SHA256": Self.sha256(sdk), "SERVER_SLEEP": server, "STUBBORN_SLEEP": stubborn,
    ])
    let fixture = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/release.yml")
    try FileManager.default.copyItem(at: fixture, to: place.folder.file("release.yml"))
    try place.write("all is well\n", to: "report.txt")
  }

  /// Cuts the first two answers for one file in the middle, and refuses the first two requests for the other.
  private static func brokenServer(cutoff: [UInt8], busy: [UInt8]) throws -> RawServer {
    let cuts = RawServer.file(cutoff, cuts: [200_000, 100_000])
    let whole = RawServer.file(busy)
    let counts = Counts()
    return try RawServer { request in
      var request = request
      request.number = counts.next(request.path)
      if request.path == "/cutoff.bin" { return cuts(request) }
      guard request.number < 2 else { return whole(request) }
      return [.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"), .next]
    }
  }

  private static func sha256(_ data: Data) -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    try? data.write(to: file)
    return String((try? ChildProcess.run(["sha256sum", file.path]).output.prefix(64)) ?? "")
  }

  @Test func everyStateIsSeenAndEveryKeyActs() throws {
    let window = try place.window(columns: 200, rows: 60, "run", "release.yml")
    defer { broken.stop() }
    try seeEveryStateThatComesByItself(in: window)
    try look(in: window)
    try holdAndRedirect(in: window)
    try pauseAndResume(in: window)
    try retry(in: window)
    try cancelAndKill(in: window)
    try readTheLog(in: window)
    try finishAndQuit(in: window)
    try checkFiles()
  }

  private func seeEveryStateThatComesByItself(in window: Window) throws {
    try window.sees("mirror", "↻", "retry 1 of 3 in")
    try window.sees("mirror", "↻", "HTTP 503")
    try window.sees("absent", "✗", "HTTP 404")
    try window.sees("lint", "✗", "exit 3, after 2 tries")
    try window.sees("flicker", "✗", "failed at step")
    try window.sees("hang", "T", "timed out")
    try window.sees("spelling", "~", "allowed to fail")
    try window.sees("fonts", "✓", "ok")
    try window.sees("busy", "✓", "ok, after 3 tries")
    try window.sees("cutoff", "✓", "ok, after 3 tries")
    try window.sees("manual", "✓", "ok")
    try window.sees("licence", "✗", "2 skipped")
    try window.press("/")
    try window.session.type("state:skipped")
    try window.sees("package", "»", "licence failed")
    try window.sees("publish", "»", "licence failed")
    try window.press("Escape")
    try window.sees("the whole list again") { $0.isWhole }
    try window.sees("compile", "▶", "30%")
    try window.sees("sdk", "▶", " of 1")
    try window.sees("rehearse", "▶", "0 of 100")
    try window.sees("link", "○", "waits for pool heavy")
    try window.sees("archive", "○", "waits for a slot")
    try window.sees("ship", "·", "waits for ")
    try window.sees("slots 5/5")
  }

  /// Filter, zoom, help and the sizes of a window.
  private func look(in window: Window) throws {
    try window.session.resize(columns: 40, rows: 12)
    try window.sees("a list alone") { screen in
      screen.lines.count <= 12 && screen.row("sdk") != nil && screen.lines[0].contains("RUN")
        && screen.lines[0].contains("failed") && screen.lines.last?.contains("q quit") == true
    }
    try window.session.resize(columns: 120, rows: 40)
    try window.sees("the panes of 120x40") { $0.text.contains("│") && $0.row("archive") != nil && $0.lines.count <= 40 }
    try window.press("/")
    try window.session.type("state:failed kind:shell")
    try window.sees("what failed in a shell") { screen in
      ["lint", "hang", "licence", "signature", "spelling"].allSatisfy { screen.row($0) != nil }
        && ["sdk", "absent", "compile", "flicker"].allSatisfy { screen.row($0) == nil }
    }
    try window.press("Escape")
    try window.sees("everything again") { $0.row("sdk") != nil && $0.row("compile") != nil }

    try seePanels(in: window)
    try window.session.resize(columns: 80, rows: 24)
    try window.sees("80x24") { screen in screen.lines.count <= 24 && screen.lines[0].hasSuffix("slots 5/5") }
    try window.choose("lint", of: Self.jobs)
    try window.press("Enter")
    try window.sees("the zoomed job") { screen in
      screen.text.contains("Attempts 2") && screen.text.contains("2  at ") && screen.text.contains("main.swift:3:1")
        && !screen.text.contains(" JOB ")
    }
    try window.press("Escape")
    try window.sees("lint", "✗")
    try window.press("?")
    try window.sees("the help") { $0.text.contains("timeline: in, out, all") && !$0.text.contains(" JOB ") }
    try window.press("Escape")
    try window.sees("lint", "✗")
    try window.showAll()
  }

  /// The five panels at 120x40, the palette, and what stands under a failure.
  private func seePanels(in window: Window) throws {
    try window.press("2")
    try window.sees("the tree") { $0.text.contains("tree by needs") && $0.text.contains("└") }
    try window.press("3")
    try window.sees("the timeline") { $0.text.contains("▾NOW") && $0.text.contains("expected") }
    try window.press("i")
    try window.sees("0 all")
    try window.press("0")
    try window.sees("the whole run") { !$0.text.contains("0 all") }
    try window.press("i", "o")
    try window.sees("the whole run again") { $0.text.contains("▾NOW") && !$0.text.contains("0 all") }
    try window.press("4")
    try window.sees("the critical path") { $0.text.contains("SAVES") && $0.text.contains("~ends at") }
    try window.press("5")
    try window.sees("the events") { $0.text.contains("EVENT") && $0.text.contains("follow") }
    try window.press("t", "t")
    try window.sees("the list") { $0.isWhole && $0.text.contains(" JOB ") }
    try window.press(":")
    try window.session.type("turn the order")
    try window.press("Enter")
    try window.sees("sorted by attention, inverted")
    try window.press("I")
    try window.sees("the usual order") { !$0.text.contains("inverted") }
  }

  /// Drain, slots, priority.
  private func holdAndRedirect(in window: Window) throws {
    try window.session.resize(columns: 200, rows: 60)
    try window.press("P")
    try window.sees("DRAIN")
    try window.sees("archive", "○", "waits: nothing new starts")
    try window.press("+")
    try window.sees("slots 5/6")
    try window.press("-")
    try window.sees("slots 5/5")
    try window.press("P")
    try window.sees("archive", "○", "waits for a slot")
    try window.choose("archive", of: Self.jobs)
    try window.press("]")
    try window.sees("archive: priority normal")
    try window.press("[")
    try window.sees("archive: priority low")
    try window.sees("with     priority low")
    try window.showAll()
  }

  private func pauseAndResume(in window: Window) throws {
    try window.choose("sdk", of: Self.jobs)
    try window.press("p")
    try window.sees("sdk", "‖", "paused")
    // The slot is not given away, and the server is well by the time that the download goes on.
    try nginx.recover()
    #expect(!place.has("got/sdk.bin"))
    try window.press("p")
    try window.sees("sdk", "✓", "ok")
    try window.sees("the reply to the second half") { $0.text.contains("206, from byte") || $0.text.contains(" 206 ") }
    try window.choose("mirror", of: Self.jobs)
    try window.press("p")
    try window.sees("mirror", "‖", "paused before its start")
    try window.press("p")
    try window.sees("mirror", "✓", "ok, after 2 tries")
    try window.showAll()
  }

  private func retry(in window: Window) throws {
    try place.write("do as you like\n", to: "licence.txt")
    try window.choose("licence", of: Self.jobs)
    try window.press("R")
    try window.sees("licence", "✓", "ok, after 2 tries")
    try window.showAll()
    try window.sees("publish", "✓", "ok")
    try window.sees("cleanup", "✓", "ok")
    try place.write("", to: "key.txt")
    try window.choose("signature", of: Self.jobs)
    try window.press("r")
    try window.sees("signature", "✓", "ok, after 2 tries")
    try window.showAll()
  }

  private func cancelAndKill(in window: Window) throws {
    #expect(ProcessTable.sleepers(server) == 1)
    try window.choose("server", of: Self.jobs)
    try window.press("x")
    try window.sees("server", "⊘", "by you")
    #expect(ProcessTable.sleepers(server) == 0)
    try window.choose("stubborn", of: Self.jobs)
    #expect(ProcessTable.sleepers(stubborn) == 2)
    try window.press("X")
    try window.sees("stubborn", "⊘", "by you")
    #expect(ProcessTable.processes(with: stubborn).isEmpty)
    try window.showAll()
  }

  private func readTheLog(in window: Window) throws {
    try window.session.resize(columns: 80, rows: 24)
    try window.choose("notes", of: Self.jobs)
    try window.sees("the end of a log that follows") { screen in
      screen.text.contains("note 400 of 400") && screen.text.contains("red words and ")
        && screen.text.contains("follow")
        && !screen.text.contains("the-end")
    }
    #expect(try window.session.value("pane_title").contains("release"))
    try window.press("l")
    try window.sees("the whole log") { $0.row("notes") == nil && $0.text.contains("note 390 of 400") }
    try window.press("w")
    try window.sees("a wrapped line") { $0.text.contains("the-end") && $0.text.contains("wrap  following") }
    try window.press("/")
    try window.session.type("note 39")
    try window.sees("11 lines")
    try window.press("Enter")
    try window.sees("/note 39 11 of 11")
    try window.press("N", "N")
    try window.sees("/note 39 9 of 11")
    try window.press("n")
    try window.sees("/note 39 10 of 11")
    try window.press("n", "n")
    try window.sees("the first match") { $0.text.contains("/note 39 1 of 11") && $0.text.contains("note 39 of 400") }
    try window.press("f")
    try window.sees("the end again") { $0.text.contains("the-end") && $0.text.contains("follow") }
    try window.press("Up")
    try window.sees("a log that no longer follows") { !$0.text.contains("wrap  following") }
    try window.press("f")
    try window.sees("wrap  following")
    try window.press("Escape")
    try window.sees("no search") { !$0.text.contains("/note 39") }
    try window.press("Escape")
    try window.sees("notes", "✓")
    try window.showAll()
  }

  private func finishAndQuit(in window: Window) throws {
    try place.write("", to: "compile.go")
    try window.sees("26 of 27 done")
    try window.session.resize(columns: 200, rows: 60)
    for job in ["compile", "link", "archive", "report", "ship", "greet", "pager"] { try window.sees(job, "✓", "ok") }
    try window.sees("rehearse", "▶")
    try window.press("q")
    try window.sees("1 job is running.")
    try window.press("Escape")
    try window.sees("the run goes on") { !$0.text.contains("1 job is running.") && $0.row("rehearse")?.letter == "▶" }
    try window.press("q")
    try window.sees("1 job is running.")
    try window.press("q")
    #expect(try window.exitStatus() == 1)
    let end = try window.screen().text
    #expect(try window.session.value("alternate_on") == "0")
    #expect(end.contains("release: 19 ok, 4 failed, 1 failed but allowed to, 3 cancelled"), "\(end)")
  }

  private func checkFiles() throws {
    #expect(place.contents("got/sdk.bin") == sdk)
    for name in ["manual.bin", "fonts.bin", "mirror.bin"] {
      #expect(try place.contents("got/\(name)") == Data(contentsOf: nginx.files.appending(path: name)))
    }
    #expect(place.contents("got/cutoff.bin").map(Array.init) == cutoff)
    #expect(place.contents("got/busy.bin").map(Array.init) == busy)
    #expect(broken.requests.filter { $0.path == "/cutoff.bin" }.map(\.rangeStart) == [nil, 200_000, 300_000])
    #expect(try Data(contentsOf: nginx.uploads.appending(path: "report.txt")) == Data("all is well\n".utf8))
    #expect(try Data(contentsOf: nginx.uploads.appending(path: "package.tar")) == place.contents("package.tar"))
    #expect(
      place.folder.names(in: "got") == ["busy.bin", "cutoff.bin", "fonts.bin", "manual.bin", "mirror.bin", "sdk.bin"])
  }
}

/// How often each path has been asked for.
private final class Counts: @unchecked Sendable {
  // Safe: what changes is behind `lock`.
  private let lock = NSLock()
  private var counts: [String: Int] = [:]

  func next(_ path: String) -> Int {
    lock.withLock {
      defer { counts[path, default: 0] += 1 }
      return counts[path, default: 0]
    }
  }
}
