import Basics
import Foundation
import Processes

package typealias SlurmResources = ClusterResources

extension SlurmResources {
  /// The sbatch options except the name.
  package var arguments: [String] {
    var arguments: [String] = []
    if let cpus { arguments.append("--cpus-per-task=\(cpus)") }
    if let memory { arguments.append(memory == 0 ? "--mem=0" : "--mem=\(memory)M") }
    if let gpus { arguments.append("--gpus=\(gpus)") }
    if let nodes { arguments.append("--nodes=\(nodes)") }
    if let time { arguments.append("--time=\(Self.minutes(time))") }
    for (name, value) in texts where value != nil { arguments.append("--\(name)=\(value ?? "")") }
    return arguments + options
  }

  /// The signal that Slurm sends only to the job's script some time before its limit, as shells write it.
  ///
  /// `USR1` for `--signal=B:USR1@60`; nil if there is none.
  var scriptSignal: String? {
    let values = options.compactMap { option -> Substring? in
      guard let equals = option.utf8.firstIndex(of: UInt8(ascii: "=")), option.hasPrefix("--si"),
        "--signal".hasPrefix(option[..<equals])
      else { return nil }
      return option[option.utf8.index(after: equals)...]
    }
    // Of several the last one counts.
    guard let value = values.last, let colon = value.firstIndex(of: ":"), value[..<colon].uppercased().contains("B")
    else { return nil }
    let name = value[value.index(after: colon)...].prefix { $0 != "@" }.uppercased()
    if let number = Int32(name) { return SignalName.short(number) }
    return name.hasPrefix("SIG") ? String(name.dropFirst(3)) : name
  }

  var texts: [(name: String, value: String?)] {
    [("partition", partition), ("account", account), ("qos", qos), ("constraint", constraint)]
  }

  /// Rounded up to whole minutes, the unit of Slurm.
  static func minutes(_ time: Duration) -> Int {
    let (seconds, attoseconds) = time.components
    let whole = seconds + (attoseconds > 0 ? 1 : 0)
    return Int((whole + 59) / 60)
  }
}
