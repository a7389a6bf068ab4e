import JobModel
import Reports
import Session

/// The request of a command line of `opdash each`.
struct EachRequest: Equatable {
  var command = ""
  /// Empty for those on standard input.
  var arguments: [String] = []
  /// Nil for lines.
  var delimiter: [UInt8]?
  /// The number of arguments of each job.
  var perJob = 1
  var retries = 0
  var timeout: Duration?
  /// Whether the output of the jobs is printed as they wrote it, wherever it goes.
  var isRaw = false
  /// The same, in the order of the arguments.
  var isOrdered = false

  var readsLines: Bool { delimiter == nil || delimiter == [UInt8(ascii: "\n")] }

  /// How standard input is split.
  var splitter: ArgumentSplitter {
    delimiter.map { ArgumentSplitter(delimiter: $0, skipsEmpty: false) } ?? ArgumentSplitter()
  }

  /// How the jobs' output is printed; nil where the interface shows it: a dashboard, or lines with the jobs' names.
  func rawOrder(_ settings: Settings, _ environment: Environment) throws(UsageError) -> RawReport.Order? {
    let order: RawReport.Order = isOrdered ? .jobs : .ends
    guard isRaw || isOrdered else {
      let isFree = settings.interface == nil && settings.grouping == nil
      return isFree && !environment.outputIsTerminal ? order : nil
    }
    let option = isOrdered ? "--order" : "--output raw"
    if let grouping = settings.grouping {
      throw UsageError("\(option) and --output \(grouping.rawValue) exclude each other: leave one out")
    }
    if let interface = settings.interface, interface != .plain {
      throw UsageError(
        "\(option) prints what the commands print, and --ui \(interface.rawValue) does not: leave one out")
    }
    return order
  }

  /// The bytes of a delimiter as options write it, with `\n`, `\r`, `\t`, `\0` and `\\`; nil for an empty or a malformed one.
  static func delimiter(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "n"): bytes.append(UInt8(ascii: "\n"))
      case UInt8(ascii: "r"): bytes.append(UInt8(ascii: "\r"))
      case UInt8(ascii: "t"): bytes.append(UInt8(ascii: "\t"))
      case UInt8(ascii: "0"): bytes.append(0)
      case UInt8(ascii: "\\"): bytes.append(UInt8(ascii: "\\"))
      default: return nil
      }
    }
    return bytes.isEmpty ? nil : bytes
  }
}
