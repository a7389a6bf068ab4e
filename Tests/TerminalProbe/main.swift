import Dispatch
import Foundation
import NcursesTerminal
import Screen

/// A program for the tests: shows what the terminal tells it, and does on order what goes wrong in others.
@MainActor
final class Probe {
  let terminal: NcursesTerminal
  var lines: [String] = []
  var showsChart = CommandLine.arguments.contains("--chart")

  init() {
    let environment = ProcessInfo.processInfo.environment
    let palette = environment["PROBE_PALETTE"].flatMap { Int($0) }.flatMap { ScreenTraits.Palette(rawValue: $0) }
    terminal = NcursesTerminal(
      traits: ScreenTraits(isASCII: environment["PROBE_ASCII"] != nil, palette: palette ?? .many),
      asksBackground: environment["PROBE_ASK"] != nil, environment: environment)
  }

  func run() throws {
    try terminal.open { [unowned self] input in handle(input) }
    say("size \(terminal.size.width)x\(terminal.size.height)")
  }

  func handle(_ input: TerminalInput) {
    switch input {
    case .key(.character("!")): fatalError("the probe was told to fail")
    case .key(.character("A")): abort()
    case .key(.character("E")): exit(3)
    case .key(.character("Q")):
      terminal.close()
      exit(0)
    case .key(.character("O")): print(overflow(1))
    case .key(.character("V")): raise(SIGSEGV)
    case .key(.character("Y")):
      terminal.copy("copied")
      say("copied")
    case .key(.character("M")):
      terminal.setMouse(false)
      say("mouse given back")
    case .key(.character("T")):
      terminal.setTitle("probe \u{1B}]title\u{7}")
      terminal.setProgress(40, failed: false)
      say("titled")
    case .key(.character("B")):
      terminal.notify(.bell, "")
      terminal.notify(.message, "probe \u{1B}]0;x\u{7}4;done")
      say("told")
    case .key(.character("U")):
      showsChart.toggle()
      draw()
    case .key(.character("=")): draw()
    case .key(.control("l")):
      terminal.invalidate()
      draw()
    case .closed:
      let note = ProcessInfo.processInfo.environment["PROBE_NOTE"]
      if let note { try? "closed".write(toFile: note, atomically: true, encoding: .utf8) }
      terminal.close()
      exit(129)
    default: say("\(input)")
    }
  }

  func say(_ line: String) {
    lines.append(line)
    draw()
  }

  func draw() {
    var frame = Frame(terminal.size)
    if showsChart {
      chart(&frame)
    } else {
      for (y, line) in lines.suffix(max(0, terminal.size.height - 1)).enumerated() {
        frame.put(line.replacing("Screen.", with: ""), x: 0, y: y)
      }
    }
    frame.put("probe ready", x: 0, y: terminal.size.height - 1, style: Style(.indexed(2), [.bold]))
    terminal.present(frame)
  }

  /// Every row ends with a bar in the same column: one that stands elsewhere shows a width that was counted wrong.
  func chart(_ frame: inout Frame) {
    let rows = [
      "ascii        plain text", "latin        naïve café Ærøskøbing", "box          ┌──┬──┐│█▉▊▋▌▍▎▏│└──┴──┘",
      "wide         漢字かなカナ한글", "combining    e\u{301}a\u{308}o\u{302}", "emoji        😀🚀✅", "selector     ❤️ ☀️ ▶️ 1️⃣",
      "joined       👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽", "flags        🇩🇪🇯🇵", "indic        क्षि नमस्ते", "private      \u{E0B0}\u{F115}",
      "marks        ✓ ✗ ● ○ ▶ ⏸ ─ … é", "unknown      \u{1FAE9}\u{1FADC}",
    ]
    for (y, row) in rows.enumerated() {
      frame.put(row, x: 0, y: y)
      frame.put("|", x: 44, y: y, style: Style(.indexed(1), [.bold]))
    }
    for index in UInt8(0)...255 {
      let style = Style(.standard, on: .indexed(index))
      frame.put(" ", x: 46 + Int(index) % 36, y: Int(index) / 36, style: style)
    }
    for (y, attribute) in [
      ("bold", Style.Attributes.bold), ("dim", .dim), ("underline", .underline), ("reverse", .reverse),
      ("italic", .italic),
    ].enumerated() {
      frame.put(attribute.0, x: 46, y: y + 9, style: Style(.indexed(6), attribute.1))
    }
    frame.put(
      JobText("\u{1B}[31mred\u{1B}[0m \u{1B}[1;38;2;255;135;0mtrue\u{1B}[m \u{1B}]0;evil\u{7}\u{1B}[2Jsafe"), x: 60,
      y: 9)
  }

  func overflow(_ depth: Int) -> Int { depth < 0 ? 0 : overflow(depth + 1) + depth }
}

let probe = Probe()
signal(SIGTSTP, SIG_IGN)
signal(SIGHUP, SIG_IGN)
let suspension = DispatchSource.makeSignalSource(signal: SIGTSTP, queue: .main)
suspension.setEventHandler { MainActor.assumeIsolated { probe.terminal.suspend() } }
// Not before: a ^Z that nobody listens for yet is lost.
suspension.setRegistrationHandler {
  MainActor.assumeIsolated {
    do {
      try probe.run()
    } catch {
      FileHandle.standardError.write(Data("probe: \(error)\n".utf8))
      exit(2)
    }
  }
}
suspension.activate()
dispatchMain()
