import Foundation
import Support

/// A job file of shell, download and simulated jobs, and the moments at which opdash is killed while it runs them.
///
/// The same for the same seed.
struct KillPlan {
  struct Job {
    enum Kind {
      case shell
      case download(SoakServer.File)
      case simulate
    }

    var name: String
    var kind: Kind
    var needs: [String]
    /// What the file says of it, without its needs.
    var text: [String: Any]

    var isShell: Bool { if case .shell = kind { true } else { false } }
    var leavesProcesses = false
  }

  struct Kill {
    /// The number of shell jobs that have begun since the start of opdash.
    var begun: Int
    /// Milliseconds after that.
    var after: Int32
    /// Whether the guardian is killed before, so that the processes of the jobs stay.
    var withGuardian: Bool
  }

  let seed: UInt64
  private(set) var jobs: [Job] = []
  private(set) var kills: [Kill] = []

  init(seed: UInt64, jobs count: Int, kills: Int) {
    self.seed = seed
    var random = SplitMix(seed: seed)
    for number in 0..<count {
      let needs = (0..<3).compactMap { _ in
        number > 0 && random.unit() < 0.25
          ? jobs[Int.random(in: max(0, number - 20)..<number, using: &random)].name : nil
      }
      jobs.append(Self.job("job\(number)", needs: Array(Set(needs)).sorted(), &random))
    }
    // Over the whole run, and a little longer; the first ones of a run of opdash come before its first job.
    let most = max(1, self.jobs.count { $0.isShell } * 3 / 2 / max(1, kills))
    self.kills = (0..<kills).map { _ in
      Kill(
        begun: Int.random(in: 0..<most, using: &random), after: Int32.random(in: 0..<300, using: &random),
        withGuardian: random.unit() < 0.3)
    }
  }

  private static func job(_ name: String, needs: [String], _ random: inout SplitMix) -> Job {
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<6:
      let nap = "sleep 0.0\(Int.random(in: 0...9, using: &random))"
      let more =
        ["", "", "setsid sleep 1000.MARK & ", "(trap '' TERM; sleep 1000.MARK) & "].randomElement(using: &random) ?? ""
      // Every process of an attempt holds the lock of its job: a second attempt meanwhile fails.
      let script = """
        exec 9>>lock.\(name); flock -n 9 || { echo \(name) >>doubles; exit 9; }
        echo \(name) >>begun; \(more)\(nap); echo \(name) $(date +%s.%N) >>done
        """
      return Job(
        name: name, kind: .shell, needs: needs, text: ["run": script, "stop": ["grace": "50ms"]],
        leavesProcesses: !more.isEmpty)
    case 6..<8:
      let file = SoakServer.File(
        size: Int.random(in: 0..<100_000, using: &random), manner: Bool.random(using: &random) ? .slow : .whole)
      return Job(
        name: name, kind: .download(file), needs: needs,
        text: ["download": ["url": "@/\(file.path)", "to": "\(name).file"]])
    default:
      let milliseconds = Int.random(in: 0..<80, using: &random)
      return Job(
        name: name, kind: .simulate, needs: needs, text: ["simulate": ["duration": "\(milliseconds)ms", "steps": 4]])
    }
  }

  /// The job file; MARK is the mark of the round, @ the address of the server.
  func file(mark: String, address: String) throws -> Data {
    let texts = jobs.map { job in (job.name, job.text.merging(["needs": job.needs]) { $1 }) }
    let file: [String: Any] = ["slots": 8, "jobs": Dictionary(uniqueKeysWithValues: texts)]
    let json = try JSONSerialization.data(withJSONObject: file, options: [.sortedKeys, .withoutEscapingSlashes])
    return Data(String(decoding: json, as: UTF8.self).replacing("MARK", with: mark).replacing("@", with: address).utf8)
  }
}
