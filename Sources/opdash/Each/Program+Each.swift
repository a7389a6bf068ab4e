import Foundation
import JobModel
import Reports
import Session

extension Program {
  /// The jobs of `opdash each` and how their output is printed.
  func eachPlan(_ request: EachRequest, _ invocation: Invocation) throws -> RunPlan {
    if request.arguments.isEmpty, environment.inputIsTerminal {
      throw UsageError("opdash each needs arguments after the command, or a list of them on standard input")
    }
    if let word = request.arguments.first(where: { $0.contains("\u{FFFD}") }) {
      throw UsageError("'\(word)' is no UTF-8 text: give the list on standard input, where any bytes may stand")
    }
    var jobs = try EachJobs(request)
    let arguments =
      request.arguments.isEmpty
      ? try parts.readArguments(request.splitter) : request.arguments.map { Array($0.utf8) }
    let made = arguments.grouped(by: request.perJob).map { jobs.next($0) }
    let faults = made.compactMap(\.fault)
    guard faults.isEmpty else { throw Faults(lines: faults.map { "opdash: \($0)" }) }
    let graph = JobGraph(name: "each", jobs: made.map(\.job))
    return RunPlan(subject: .graph(graph), source: "each", command: "each", words: invocation.words)
  }

  /// Nil where the interface shows the output: a dashboard, or lines that begin with the job's name.
  func rawOrder(_ request: EachRequest, _ settings: Settings) throws -> RawReport.Order? {
    let order: RawReport.Order = request.isOrdered ? .jobs : .ends
    guard request.isRaw || request.isOrdered else {
      let isFree = settings.interface == nil && settings.grouping == nil
      return isFree && !environment.outputIsTerminal ? order : nil
    }
    let option = request.isOrdered ? "--order" : "--output raw"
    if let grouping = settings.grouping {
      throw UsageError("\(option) and --output \(grouping.rawValue) exclude each other: leave one out")
    }
    if let interface = settings.interface, interface != .plain {
      throw UsageError(
        "\(option) prints what the commands print, and --ui \(interface.rawValue) does not: leave one out")
    }
    return order
  }
}

/// A list of arguments that has come to its end.
enum ArgumentList {
  /// All arguments that can be read from a descriptor.
  static func read(_ descriptor: Int32, _ splitter: ArgumentSplitter) throws(UsageError) -> [[UInt8]] {
    var splitter = splitter
    var arguments: [[UInt8]] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Foundation.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw UsageError("can't read standard input: \(String(cString: strerror(errno)))") }
      guard count > 0 else { return arguments + [splitter.finish()].compactMap(\.self) }
      arguments += splitter.feed(buffer[..<count])
    }
  }
}
