import JobModel
import Reports
import Screen

/// The options of a run; nil where neither the command line nor a settings file gives one.
package struct Settings: Equatable {
  /// How a run is shown.
  package enum Interface: String, CaseIterable {
    case dashboard = "tui"
    /// Plain lines above the executing jobs.
    case inline
    case plain
    case json
    case quiet
  }

  package enum Color: String, CaseIterable {
    case auto
    case always
    case never
  }

  package var slots: Int?
  /// The jobs that a person has approved in advance, as names or patterns; `all` stands for every job.
  package var approved: [String] = []
  package var onFailure: JobGraph.Failure?
  /// The engine for the programs of all jobs; nil leaves it to the job file.
  package var engine: Engine?
  /// Nil chooses the dashboard or plain lines, as the environment allows.
  package var interface: Interface?
  /// Nil chooses lines, or groups for GitHub Actions where it executes the program.
  package var grouping: PlainReport.Grouping?
  package var keepOpen = KeepOpen.onFailure
  package var state: String?
  /// The paths of the reports that are written to files.
  package var files: [ReportFormat: String] = [:]
  /// The URL of the collector that the run's trace is sent to.
  package var collector: String?
  /// Whether plain lines leave out the start of each job and the notes about it.
  package var isBrief = false
  package var isASCII = false
  package var color = Color.auto
  package var hasMouse = true
  package var background: ScreenTraits.Background?
  package var notice: EndNotice?
  package var silencedWarnings: Set<RunWarning.Kind> = []
  package var retention = Retention()
  /// The keys of rebound actions, by action name.
  package var keys: [String: [Key]] = [:]
  /// The styles of restyled elements, by element name.
  package var looks: [String: Style] = [:]

  package init() {}
}

/// An invalid command line, with a line that names the fault and its remedy.
package struct UsageError: Error, Equatable {
  package var message: String

  package init(_ message: String) { self.message = message }
}
