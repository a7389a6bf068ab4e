import Basics

/// Usual times and estimates in words.
package enum UsualText {
  /// `usually 2:21`.
  package static func short(_ usual: UsualTime) -> String { "usually \(Format.stretch(usual.median))" }

  /// `usually 2:21, 9 of 10 within 3:02 (12 runs)`.
  package static func whole(_ usual: UsualTime) -> String {
    let ninetieth = Format.stretch(usual.ninetieth)
    let within = ninetieth == Format.stretch(usual.median) ? "" : ", 9 of 10 within \(ninetieth)"
    return short(usual) + within + " (\(Format.count(usual.count, "run")))"
  }

  /// `failed 3 of its last 10 attempts`; nil for a job that isn't flaky.
  package static func flaky(_ usual: UsualTime) -> String? {
    usual.isFlaky ? "failed \(usual.failures) of its last \(usual.attempts) attempts" : nil
  }

  /// `slower than usual +41 %`, or `slower +41 %` if `room` is smaller; nil if that does not fit.
  package static func slower(_ excess: Double, room: Int = .max) -> String? {
    ["slower than usual", "slower"].map { "\($0) \(percent(excess))" }.first { $0.count <= room }
  }

  /// `+41 %`.
  package static func percent(_ excess: Double) -> String { "+\(Int(clamping: (excess * 100).rounded())) %" }
}

extension TimeEstimate {
  /// The words for it, the longest first: `about 2:10 left` or `2:10 to 3:40 left`.
  package var forms: [String] {
    guard !isNarrow else {
      let time = Format.time(middle)
      return ["about \(time) left", "~\(time) left", "~\(time)"]
    }
    let (from, to) = (Format.time(soonest), Format.time(latest))
    guard soonest >= .seconds(1) else { return ["up to \(to) left", "<\(to) left"] }
    return ["\(from) to \(to) left", "\(from)-\(to) left"]
  }

  package var text: String { forms[0] }

  /// The usual end in a narrow column: `~1:37`; `<1:37` once the usual time is over.
  package var cell: String {
    soonest > .zero ? "~" + Format.countdown(soonest) : "<" + Format.countdown(latest)
  }
}
