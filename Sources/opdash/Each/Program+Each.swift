import Foundation
import JobModel
import Reports
import Session

extension Program {
  /// The jobs of `opdash each`; jobs of standard input arrive during the run, unless it is only rehearsed.
  func eachPlan(_ request: EachRequest, _ invocation: Invocation) throws -> RunPlan {
    var plan = RunPlan(
      subject: .graph(JobGraph(name: "each")), source: "each", command: "each", words: invocation.words)
    var jobs = try EachJobs(request)
    if request.arguments.isEmpty {
      if environment.inputIsTerminal {
        throw UsageError("opdash each needs arguments after the command, or a list of them on standard input")
      }
      if invocation.isDryRun {
        let arguments = try ArgumentList.read(parts.arguments, request.splitter)
        let made = arguments.grouped(by: request.perJob).map { group in
          jobs.next(group.map(\.bytes), line: request.readsLines ? group.first?.place : nil)
        }
        plan.subject = .graph(try Self.eachGraph(made))
      } else {
        try ArgumentList.check(parts.arguments)
        plan.arriving = ArrivingJobs(request: request, jobs: jobs)
      }
      return plan
    }
    if let word = request.arguments.first(where: { $0.contains("\u{FFFD}") }) {
      throw UsageError("'\(word)' is no UTF-8 text: give the list on standard input, where any bytes may stand")
    }
    let arguments = request.arguments.map { Array($0.utf8) }
    plan.subject = .graph(try Self.eachGraph(arguments.grouped(by: request.perJob).map { jobs.next($0) }))
    return plan
  }

  private static func eachGraph(_ made: [(job: Job, fault: String?)]) throws -> JobGraph {
    let faults = made.compactMap(\.fault)
    guard faults.isEmpty else { throw Faults(lines: faults.map { "opdash: \($0)" }) }
    return JobGraph(name: "each", jobs: made.map(\.job))
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
