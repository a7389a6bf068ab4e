import Foundation

/// Opens pages in a headless Chromium of the test's own, of which nothing is left afterwards.
package struct Chromium {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// The document after its scripts have run, as HTML, and the picture of the window as PNG.
  package struct Shot {
    package var document: String
    package var picture: Data
  }

  private static let names = ["chromium", "chromium-browser", "google-chrome", "chrome"]

  private let program: String

  /// Whether there is one on this machine.
  package static var isInstalled: Bool { (try? Chromium()) != nil }

  package init() throws {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    let paths =
      folders.flatMap { folder in Self.names.map { "\(folder)/\($0)" } }
      + ["/Applications/Chromium.app/Contents/MacOS/Chromium"]
    guard let program = paths.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
      throw Failure(description: "there is no chromium in PATH; install it (Demo/packages browser)")
    }
    self.program = program
  }

  /// Loads a page, waits until its scripts and timers rest, and takes its picture.
  package func load(
    _ page: String, width: Int = 1200, height: Int = 1000, isDark: Bool = false
  ) throws -> Shot {
    let folder = try TemporaryFolder()
    try Data(page.utf8).write(to: folder.file("page.html"))
    var arguments = [
      program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--disable-background-networking", "--disable-extensions", "--hide-scrollbars", "--force-device-scale-factor=1",
      "--user-data-dir=\(folder.file("profile").path())", "--virtual-time-budget=5000",
      "--window-size=\(width),\(height)", "--screenshot=\(folder.file("page.png").path())", "--dump-dom",
    ]
    if isDark { arguments.append("--blink-settings=preferredColorScheme=0") }
    arguments.append(folder.file("page.html").absoluteString)
    let (output, silence) = (descriptor(folder.file("page.txt").path()), descriptor("/dev/null"))
    defer { for descriptor in [output, silence] { close(descriptor) } }
    let browser = try ChildProcess(arguments, descriptors: [silence, output, silence], leadsGroup: true)
    var ending: ChildProcess.Ending?
    let hasEnded = eventually {
      ending = browser.ending()
      return ending != nil
    }
    // Its helpers are in its group, and some would end a little later.
    kill(-browser.pid, SIGKILL)
    if !hasEnded { _ = browser.ending(waiting: true) }
    guard ending == .exited(0) else {
      throw Failure(description: "\(program) ended with \(String(describing: ending))")
    }
    return Shot(
      document: try String(contentsOf: folder.file("page.txt"), encoding: .utf8),
      picture: try Data(contentsOf: folder.file("page.png")))
  }

  private func descriptor(_ path: String) -> Int32 { open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
}
