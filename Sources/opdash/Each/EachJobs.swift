import Foundation
import JobModel
import Screen
import Session

/// Makes the jobs of `opdash each` from their arguments, one after another.
struct EachJobs {
  /// The cells of a name.
  private static let nameWidth = 60

  let request: EachRequest
  private let template: EachTemplate
  private var number = 0
  /// How many jobs have had each name.
  private var names: [String: Int] = [:]

  init(_ request: EachRequest) throws(UsageError) {
    self.request = request
    template = try EachTemplate(request.command)
  }

  /// The next job, of arguments on standard input, and why its command can't be executed, if so.
  mutating func next(of group: [ListArgument]) -> (job: Job, fault: String?) {
    next(group.map(\.bytes), line: request.readsLines ? group.first?.place : nil)
  }

  /// The next job, and why its command can't be executed, if so.
  ///
  /// `line` is the line of the first argument, if the arguments are lines of standard input.
  mutating func next(_ arguments: [[UInt8]], line: Int? = nil) -> (job: Job, fault: String?) {
    number += 1
    let script = template.script(for: arguments, number: number)
    let fault = fault(in: arguments, line, script)
    // So the fault of an argument that comes late fails its own job only.
    if let fault { return (failing(name(arguments), fault), fault) }
    let work = JobWork.shell(ShellWork(.script(script), stderr: .apart))
    let retry = request.retries == 0 ? RetryPolicy.never : RetryPolicy(max: request.retries)
    return (Job(name: unique(name(arguments)), work: work, timeout: request.timeout, retry: retry), nil)
  }

  /// A job that says the fault and fails, without a retry.
  mutating func failing(_ name: String, _ fault: String) -> Job {
    let text = ShellText.quoted(Array("opdash: \(fault)".utf8)[...])
    let script = "echo \(String(decoding: text, as: UTF8.self)) >&2; exit 2"
    return Job(name: unique(name), work: .shell(ShellWork(.script(script), stderr: .apart)), retry: .never)
  }

  private func fault(in arguments: [[UInt8]], _ line: Int?, _ script: String) -> String? {
    let place =
      if arguments.count > 1 {
        "an argument of job \(number)" + (line.map { ", whose first is line \($0) of standard input," } ?? "")
      } else {
        line.map { "line \($0) of standard input" } ?? "argument \(number)"
      }
    if arguments.contains(where: { $0.contains(0) }) {
      return "\(place) has a NUL byte, which no command can take: --null splits standard input there"
    }
    if script.utf8.count > EachTemplate.longestScript {
      let advice = arguments.count > 1 ? "lower --max-args" : "put it into a file, and give its name"
      return "\(place) makes a command of more than \(EachTemplate.longestScript) bytes: \(advice)"
    }
    return nil
  }

  /// The first argument on one line, and how many others there are.
  private func name(_ arguments: [[UInt8]]) -> String {
    let text = MessageText.of(String(decoding: (arguments.first ?? []).prefix(400), as: UTF8.self)).text
    let trimmed = text.trimmingCharacters(in: .whitespaces)
    let more = arguments.count > 1 ? " +\(arguments.count - 1)" : ""
    return Elision(isASCII: true).middle(trimmed.isEmpty ? "''" : trimmed, to: Self.nameWidth) + more
  }

  /// `a`, then `a (2)`, `a (3)`.
  private mutating func unique(_ name: String) -> String {
    var candidate = name
    while names[candidate] != nil {
      names[name, default: 1] += 1
      candidate = "\(name) (\(names[name] ?? 0))"
    }
    names[candidate] = 1
    return candidate
  }
}

extension Array {
  /// The arguments of each job; the last job may have fewer.
  func grouped(by count: Int) -> [[Element]] {
    stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
  }
}
