import JobModel
import Screen

/// The inputs of `Update`.
enum Message {
  case facts([JobEvent])
  case input(TerminalInput)
  /// The run as it was at an instant; nil where its record can't be read.
  case past(Run?, at: Duration)
  /// The recording of the run has ended early; the text says why.
  case unrecorded(String)
  /// The alarm of the next frame has fired.
  case tick
}

/// An action outside the model that `Update` asks for.
enum Effect: Equatable {
  case send(JobCommand)
  case copy(String)
  case setMouse(Bool)
  /// Notifies the person that the run is over.
  case notify(String)
  case redraw
  /// Asks for the run as it was at an instant; `past` answers.
  case find(Duration)
  case leave(Departure)
}

/// Why the dashboard ended.
package enum Departure: Sendable, Equatable {
  /// Every job has ended and the dashboard need not stay open.
  case complete
  /// The run was stopped and none of its jobs executes any more.
  case stopped
  /// A person quit a run that had ended.
  case quit
  /// A person left a run of this program that continues.
  case detached
  /// A person quit without waiting for executing jobs.
  case abandoned
  /// The terminal was closed from outside.
  case terminalClosed
}
