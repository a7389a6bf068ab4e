import JobModel
import Screen

/// What can reach the dashboard; `Update` is the one place that answers.
enum Message {
  case facts([JobEvent])
  case key(Key)
  case mouse(MouseEvent)
  case paste(String)
  case resized(Size)
  /// The terminal has gone.
  case closed
  /// Time has passed that something waited for.
  case tick
}

/// What an update wants done outside of the model.
enum Effect: Equatable {
  case send(JobCommand)
  case copy(String)
  case setMouse(Bool)
  /// The person is to be told that the run is over.
  case notify(String)
  case redraw
  case leave(Departure)
}

/// Why the dashboard came to its end.
package enum Departure: Sendable, Equatable {
  /// Every job has ended and the dashboard need not stay open.
  case complete
  /// The run was stopped and nothing of it executes any more.
  case stopped
  /// A person quit a run that had ended.
  case quit
  /// A person would not wait for what still executes.
  case abandoned
  /// The terminal went away.
  case terminalClosed
}
