import Basics
import Foundation
import JobModel
import Reports
import Screen

/// The variables, terminals and folder of the program, read once at its start.
package struct Environment: Sendable {
  package var variables: [String: String]
  package var inputIsTerminal = false
  package var outputIsTerminal = false
  package var errorIsTerminal = false
  /// A descriptor of the terminal on standard output, if standard input carries data instead of keys.
  package var terminal: Int32?
  /// The jobserver of the make that has started the program by a rule with `+`.
  package var jobserver: MakeFlags.Jobserver?
  package var currentDirectory = "/"
  package var processors = 1

  /// The environment of this process; to be called before it opens a file.
  package static func current() -> Environment {
    let variables = ProcessVariables.current
    return Environment(
      variables: variables, inputIsTerminal: isatty(0) == 1, outputIsTerminal: isatty(1) == 1,
      errorIsTerminal: isatty(2) == 1, terminal: controllingTerminal,
      jobserver: jobserver(of: variables),
      currentDirectory: FileManager.default.currentDirectoryPath,
      processors: ProcessInfo.processInfo.activeProcessorCount)
  }

  /// The flags of the make that has started the program.
  package var makeFlags: MakeFlags { MakeFlags((variables["MAKEFLAGS"] ?? "").utf8) }

  /// Nil where make has not passed its descriptors on: their numbers are free then, or belong to other files.
  private static func jobserver(of variables: [String: String]) -> MakeFlags.Jobserver? {
    let jobserver = MakeFlags((variables["MAKEFLAGS"] ?? "").utf8).jobserver
    guard case .descriptors(let reader, let writer) = jobserver else { return jobserver }
    let arePipes = [reader, writer].allSatisfy { FileStatus($0)?.kind == S_IFIFO }
    return arePipes ? jobserver : nil
  }

  /// The controlling terminal if it is standard output and standard input is a pipe or a file; opened once.
  private static let controllingTerminal = openTerminal()

  /// Nil if standard input is closed or a device such as `/dev/null`: no person is expected then.
  private static func openTerminal() -> Int32? {
    guard isatty(1) == 1, let input = FileStatus(STDIN_FILENO)?.kind, [S_IFIFO, S_IFREG, S_IFSOCK].contains(input),
      tcgetsid(1) == getsid(0)
    else { return nil }
    let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC)
    return descriptor < 0 ? nil : descriptor
  }

  /// The descriptor that keys are read from; nil where none can be.
  package var keyboard: Int32? { inputIsTerminal ? STDIN_FILENO : terminal }

  /// Whether there are keys, and standard output is a terminal with a movable cursor.
  private var canDraw: Bool { keyboard != nil && outputIsTerminal && hasCapableTerminal }

  private var hasCapableTerminal: Bool {
    let term = variables["TERM"] ?? ""
    return !term.isEmpty && term != "dumb"
  }

  /// Whether lines must not be redrawn, because a screen reader reads them aloud.
  private var wantsStaticLines: Bool { isSet("ACCESSIBLE") && variables["ACCESSIBLE"] != "0" }

  /// Decides how the run is shown; nil chooses the dashboard on a capable terminal outside CI, else plain lines.
  ///
  /// Throws where the dashboard is asked for and can't be drawn.
  package func interface(for wish: Settings.Interface?) throws(UsageError) -> Settings.Interface {
    switch wish {
    case nil: return canDraw && !isSet("CI") && !wantsStaticLines ? .dashboard : .plain
    case .inline: return outputIsTerminal && hasCapableTerminal && !wantsStaticLines ? .inline : .plain
    case .plain: return .plain
    case .json: return .json
    case .quiet: return .quiet
    case .dashboard:
      try checkDashboard(for: "--ui tui", instead: "--ui plain")
      return .dashboard
    }
  }

  /// Throws where the dashboard can't be drawn; `subject` is what needs it, and `instead` does without.
  package func checkDashboard(for subject: String, instead: String) throws(UsageError) {
    guard keyboard != nil, outputIsTerminal else {
      throw UsageError(
        "\(subject) needs a terminal as standard output, and one for its keys; \(instead) does without")
    }
    guard hasCapableTerminal else {
      let term = variables["TERM"] ?? ""
      throw UsageError(
        "\(subject) can't draw with TERM='\(term)'; set TERM to what the terminal is, or use \(instead)")
    }
  }

  /// Whether a line of progress is drawn on standard error: it is a capable terminal, and standard output is none.
  package func showsProgress(for wish: Settings.Interface?) -> Bool {
    wish == nil && !outputIsTerminal && errorIsTerminal && hasCapableTerminal && !isSet("CI") && !wantsStaticLines
  }

  /// Decides how plain lines show the output of jobs.
  package func grouping(for wish: PlainReport.Grouping?) -> PlainReport.Grouping {
    wish ?? (isSet("GITHUB_ACTIONS") ? .github : .lines)
  }

  /// An explicit setting beats NO_COLOR, which beats CLICOLOR_FORCE, which beats the kind of terminal.
  package func isColored(_ wish: Settings.Color, onTerminal isTerminal: Bool) -> Bool {
    switch wish {
    case .always: return true
    case .never: return false
    case .auto:
      if isSet("NO_COLOR") { return false }
      if isSet("CLICOLOR_FORCE"), variables["CLICOLOR_FORCE"] != "0" { return true }
      return isTerminal && hasCapableTerminal
    }
  }

  /// The traits of the screen by settings, locale and terminal; by default for standard output.
  package func traits(_ settings: Settings, onTerminal isTerminal: Bool? = nil) -> ScreenTraits {
    let isColored = isColored(settings.color, onTerminal: isTerminal ?? outputIsTerminal)
    return ScreenTraits(
      isASCII: settings.isASCII || !isUTF8, palette: isColored ? palette : .none, background: background(settings))
  }

  /// Whether to ask the terminal for its background: it is not set, and the answer would change colors.
  package func asksBackground(_ settings: Settings) -> Bool {
    (settings.background ?? .unknown) == .unknown && traits(settings).palette > .none
  }

  private func background(_ settings: Settings) -> ScreenTraits.Background {
    if let known = settings.background, known != .unknown { return known }
    // Set by rxvt and Konsole: the color indices of text and background.
    guard let last = variables["COLORFGBG"]?.split(separator: ";").last, let index = Int(last) else { return .unknown }
    return (0...6).contains(index) || index == 8 ? .dark : (7...15).contains(index) ? .light : .unknown
  }

  /// Whether the locale is UTF-8; the first variable that is set decides.
  package var isUTF8: Bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { variables[$0] }.first { !$0.isEmpty } ?? ""
    let name = locale.lowercased()
    return name.contains("utf-8") || name.contains("utf8")
  }

  private var palette: ScreenTraits.Palette {
    let term = variables["TERM"] ?? ""
    if term.hasPrefix("vt") || term.hasSuffix("-m") || term.hasSuffix("-mono") { return .none }
    if term == "linux" { return .eight }
    let modern = ["256color", "direct", "kitty", "alacritty", "foot", "ghostty", "wezterm"]
    if modern.contains(where: term.contains) || ["truecolor", "24bit"].contains(variables["COLORTERM"]) {
      return .many
    }
    return term.contains("16color") ? .sixteen : .eight
  }

  /// The folder for recorded runs; nil if neither an option nor the environment gives one.
  package func stateFolder(_ settings: Settings) -> String? {
    if let folder = settings.state { return absolute(folder) }
    guard let folder = folder("XDG_STATE_HOME", or: ".local/state") else { return nil }
    return Self.isAnothers(folder) ? Self.homeOfRoot.map { "\($0)/.local/state/opdash" } : folder
  }

  /// The line that says where the runs of root are recorded in the place of another user's folder; nil if they aren't.
  package func stateNote(_ settings: Settings) -> String? {
    guard settings.state == nil, let folder = folder("XDG_STATE_HOME", or: ".local/state"), Self.isAnothers(folder),
      let own = stateFolder(settings)
    else { return nil }
    return
      "\(folder) is another user's, who could not write to the files of root there: the run is recorded in \(own); "
      + "--state DIR names another folder"
  }

  /// Whether root would make files in the folder that belong among another user's: with `sudo -E`, HOME is that user's.
  ///
  /// Another user than root can make files only where that is meant.
  private static func isAnothers(_ folder: String) -> Bool {
    guard geteuid() == 0 else { return false }
    var path = BytePath(folder)
    while !path.bytes.isEmpty {
      if let status = FileStatus(path, followsLink: true) { return status.value.st_uid != 0 }
      path = path.folder
    }
    return false
  }

  private static var homeOfRoot: String? { getpwuid(0).map { String(cString: $0.pointee.pw_dir) } }

  /// The folder for sockets of the login session, which may be removed at its end; nil if the environment gives none, or
  /// another user's folder, as with `sudo -E`.
  package var runtimeFolder: String? {
    guard let folder = variables["XDG_RUNTIME_DIR"], folder.isAbsolutePath else { return nil }
    return FileStatus(folder, followsLink: true).map { $0.value.st_uid == geteuid() } ?? true ? folder : nil
  }

  /// The path of the settings file, whether or not it exists; nil if the environment doesn't give one.
  package var settingsFile: String? { folder("XDG_CONFIG_HOME", or: ".config").map { "\($0)/config.yaml" } }

  /// The folder of opdash in a base directory: the variable's, or a folder of the home directory.
  private func folder(_ name: String, or standard: String) -> String? {
    if let folder = variables[name], folder.isAbsolutePath { return "\(folder)/opdash" }
    if let home = variables["HOME"], home.isAbsolutePath { return "\(home)/\(standard)/opdash" }
    return nil
  }

  /// Resolves a path against the current directory.
  package func absolute(_ path: String) -> String {
    if path.isAbsolutePath { return path }
    return currentDirectory.hasSuffix("/") ? currentDirectory + path : "\(currentDirectory)/\(path)"
  }

  private func isSet(_ name: String) -> Bool { !(variables[name] ?? "").isEmpty }
}
