import Foundation
import JobModel

extension Program.Parts {
  /// The parts that opdash is built from.
  static let real = Program.Parts(
    load: { path, _ in .failure(Faults(lines: ["\(path):1:1: not built yet"])) },
    makeRun: { _, _ in throw UsageError("not built yet") },
    makeView: { _, _ in preconditionFailure("not built yet") },
    readList: { path in
      if path == "-" { return String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self) }
      return try String(contentsOfFile: path, encoding: .utf8)
    },
    watchSignals: { session, view in
      let signals = SignalSources { session.receive($0) }
      if let view { signals.add(SIGTSTP) { view.suspend() } }
      RealParts.signals = signals
    })
}

/// Keeps the signal sources for as long as the program lives.
@MainActor
private enum RealParts {
  static var signals: SignalSources?
}
