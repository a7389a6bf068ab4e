import Basics
import CTerminal
import Foundation
import JobModel
import Reports
import Screen

/// Asks a person at the terminal for the approvals of a run that shows no dashboard, one question after another.
///
/// `y` or `yes` approves; any other answer cancels the job, and so does the end of the input.
package final class ApprovalPrompt: @unchecked Sendable {
  // Safe: only `queue` accesses the variables, except `input`, which is constant.
  private let feed: any JobFeed
  private let input: Int32
  private let errors: Output
  private let clock: any OperationClock
  private let queue = DispatchQueue(label: "opdash.approvals")
  private let reading = DispatchQueue(label: "opdash.answers")
  private var waiting: [JobID] = []
  /// The job whose question stands on the terminal.
  private var asked: JobID?

  /// Reads answers from `input`, a terminal, and writes questions to `errors`.
  package init(_ feed: any JobFeed, input: Int32 = STDIN_FILENO, errors: Output, clock: any OperationClock = .system) {
    self.feed = feed
    self.input = input
    self.errors = errors
    self.clock = clock
  }

  /// Takes the next events; from any thread.
  fileprivate func receive(_ events: [JobEvent]) { queue.async { self.take(events) } }

  private func take(_ events: [JobEvent]) {
    for event in events {
      switch event.fact {
      case .jobState(let id, .ready(for: .person), _, _): waiting.append(id)
      case .jobState(let id, _, _, _): waiting.removeAll { $0 == id }
      case .stopRequested, .runFinished: waiting = []
      default: break
      }
    }
    askNext()
  }

  private func askNext() {
    guard asked == nil, let id = waiting.first else { return }
    asked = id
    let run = feed.snapshot
    let (name, question) = (JobText.clean(run[id].job.name), JobText.clean(run.question(of: id) ?? ""))
    // Input typed before the question does not answer it.
    tcflush(input, TCIFLUSH)
    errors.write(line: "\(name) asks: \(question)  y approves, any other answer cancels it [y/N]")
    reading.async { [self] in
      let answer = Self.line(from: input, clock)
      queue.async { self.take(answer, to: id) }
    }
  }

  private func take(_ answer: String?, to id: JobID) {
    asked = nil
    // The question may have gone meanwhile, and come again for another attempt.
    if waiting.first == id {
      waiting.removeFirst()
      let isYes = answer?.trimmingCharacters(in: .whitespaces) == "y"
      feed.send(isYes ? .approve([id]) : .cancel([id], by: .person))
    }
    askNext()
  }

  /// The next line; nil at the end of the input.
  ///
  /// Blocks.
  /// A program in the background can't read its terminal: it waits until it is in the foreground.
  private static func line(from input: Int32, _ clock: any OperationClock) -> String? {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTTIN)
    // Without it, the read would stop the program and its jobs.
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      let count = read(input, &byte, 1)
      if count == 1, byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      if count == 1 {
        bytes.append(byte)
      } else if count < 0, errno == EINTR {
        continue
      } else if count < 0, errno == EIO, tcgetpgrp(input) != getpgrp(), tcgetsid(input) == getsid(0) {
        let isOver = DispatchSemaphore(value: 0)
        _ = clock.schedule(after: .seconds(1)) { isOver.signal() }
        isOver.wait()
      } else {
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
      }
    }
  }
}

/// Passes events on to a prompt once the reports before it have written theirs, so that a question stands below them.
struct ApprovalReport: Report {
  private let prompt: ApprovalPrompt
  private var events: [JobEvent] = []

  init(_ prompt: ApprovalPrompt) { self.prompt = prompt }

  mutating func receive(_ event: JobEvent, before: JobState?, in run: Run) {
    switch event.fact {
    case .jobState, .stopRequested, .runFinished: events.append(event)
    default: break
    }
  }

  mutating func flush() {
    guard !events.isEmpty else { return }
    prompt.receive(events)
    events = []
  }
}
