import Dashboard
import JobFiles
import Remote
import Reports
import Session

/// A command for jobs of a run that is going on.
enum RunAction: String {
  case cancel
  case pause
  case retry
  case approve
}

/// A parsed command line.
struct Invocation: Equatable {
  enum Command: Equatable {
    /// A file, jobs of it, or both; see `JobFileSearch`.
    case run([String])
    case get(DownloadRequest)
    case each(EachRequest)
    case list(file: String?)
    case check(file: String?)
    /// A file, jobs of it, or both, as for `run`.
    case graph([String], GraphFormat)
    case initialize(file: String)
    case importing(ImportFormat, file: String)
    case schema
    /// The run's name, or nil for the last unfinished one.
    case resume(run: String?, onlyFailed: Bool)
    case history(file: String?, prunes: Bool)
    /// The name of a run, or the path of a file of events.
    case replay(String, speed: Double)
    case report(run: String, html: String?)
    case diff(String, String)
    /// A run, a job of it, or both; see `LogsCommand`.
    case logs([String], follows: Bool)
    /// Lists the runs that are going on.
    case running
    /// The name of a run, a process, or nil for the only one that is going on.
    case attach(run: String?, RemoteAccess)
    /// As `attach`.
    case wait(run: String?)
    case events(run: String, follows: Bool)
    /// Without jobs, all of the run.
    case control(RunAction, run: String, jobs: [String])
    case slots(run: String, Int)
    /// As `attach`; the file may be `-`.
    case add(run: String?, file: String)
    case keys
    /// Nil lists the scenarios.
    case demo(scenario: String?)
    /// Nil is the program.
    case help(HelpTopic?)
    case manual(HelpTopic?)
    case completion(CompletionScript)
    case version

    var startsJobs: Bool {
      switch self {
      case .run, .get, .each, .demo(_?), .resume: true
      default: false
      }
    }
  }

  /// Whether the command executes jobs, or takes the terminal: others are spared the start of a guardian.
  var isSupervised: Bool {
    switch command {
    case .replay, .attach: true
    default: command.startsJobs && !isDryRun
    }
  }

  var command: Command
  /// Whether the jobs of `run` are named without the command.
  var isBare = false
  var settings = Settings()
  /// Other values for the job file's vars.
  var vars: [String: String] = [:]
  /// Whether to say what would run instead of running it.
  var isDryRun = false
  /// Whether jobs that are up to date are run too.
  var isForced = false
  /// Whether a dry run says why jobs would run.
  var explains = false
  /// Whether a table is printed as JSON.
  var wantsJSON = false
  /// Whether the run has no terminal.
  var isDetached = false
  /// Whether inputs are watched.
  var isWatching = false
  /// The command line without the program's name.
  var words: [String] = []
}

extension Settings {
  /// These settings, completed by the settings file.
  func over(_ file: SettingsFile) -> Settings {
    var settings = self
    settings.keys = file.keys
    settings.looks = file.colors
    settings.background = background ?? file.background
    settings.notice = notice ?? file.notify
    settings.hasMouse = hasMouse && file.usesMouse != false
    settings.isASCII = isASCII || file.isASCII == true
    settings.retention = file.retention ?? retention
    return settings
  }
}

extension SettingsFile {
  /// The actions and elements of the dashboard.
  static let dashboards: Vocabulary = (
    KeyMap.standard.entries.map { ($0.action, $0.keys, $0.isNeeded) }, ThemeElement.allCases.map(\.rawValue)
  )
}
