import Basics
import CTerminal
import Foundation
import JobModel
import Reports
import Screen

/// Asks a person at the terminal for the approvals of a run that shows no dashboard, one question after another.
///
/// `y` approves; any other answer cancels the job, and so does the end of the input.
/// A question goes with the state of its job, and only a line that is typed after a question answers it.
package final class ApprovalPrompt: @unchecked Sendable {
  // Safe: only `queue` accesses the variables; all else is constant, and `answer` has a lock.
  private let feed: any JobFeed
  private let input: Int32
  private let errors: Output
  private let clock: any OperationClock
  private let isTaken: @Sendable (_ terminal: Int32) -> Bool
  private let queue = DispatchQueue(label: "opdash.approvals")
  private let reading = DispatchQueue(label: "opdash.answers")
  private let answer = Lock(Answer())
  /// The jobs whose questions are still to be asked.
  private var waiting: [JobID] = []
  /// The job whose question stands on the terminal.
  private var asked: JobID?
  /// Whether `reading` waits for a line, which may have begun to wait for the answer to an earlier question.
  private var isReading = false

  /// Reads answers from `input`, a terminal, and writes questions to `errors`; `isTaken` is whether another program has it.
  package init(
    _ feed: any JobFeed, input: Int32 = STDIN_FILENO, errors: Output, clock: any OperationClock = .system,
    isTaken: @escaping @Sendable (_ terminal: Int32) -> Bool = { terminal_is_taken($0) }
  ) {
    self.feed = feed
    self.input = input
    self.errors = errors
    self.clock = clock
    self.isTaken = isTaken
  }

  /// Takes the next events; from any thread.
  fileprivate func receive(_ events: [JobEvent]) { queue.async { self.take(events) } }

  private func take(_ events: [JobEvent]) {
    for event in events {
      switch event.fact {
      case .jobState(let id, let state, _, _):
        // A job that asks again has another question.
        withdraw(id)
        if state == .ready(for: .person) { waiting.append(id) }
      case .stopRequested:
        let run = feed.snapshot
        // The jobs of `finally` will run.
        for id in waiting + [asked].compactMap(\.self) where run[id].job.finally == nil { withdraw(id) }
      case .runFinished: for id in waiting + [asked].compactMap(\.self) { withdraw(id) }
      default: break
      }
    }
    ask()
  }

  private func withdraw(_ id: JobID) {
    waiting.removeAll { $0 == id }
    if asked == id { asked = nil }
  }

  /// Asks the next question unless one stands, and waits for the answer.
  private func ask() {
    if asked == nil, !waiting.isEmpty {
      let id = waiting.removeFirst()
      asked = id
      let run = feed.snapshot
      let (name, question) = (JobText.clean(run[id].job.name), JobText.clean(run.question(of: id) ?? ""))
      answer.withLock { answer in
        answer.beginQuestion()
        // Input typed before the question does not answer it. In the background it is another program's.
        if !isTaken(input) { tcflush(input, TCIFLUSH) }
      }
      errors.write(line: "\(name) asks: \(question)  y approves, any other answer cancels it [y/N]")
    }
    guard asked != nil, !isReading else { return }
    isReading = true
    reading.async { [self] in
      let (line, question) = nextLine()
      queue.async { self.take(line, to: question) }
    }
  }

  private func take(_ line: String?, to question: Int) {
    isReading = false
    if let id = asked, question == answer.withLock(\.question) {
      asked = nil
      let isYes = line?.trimmingCharacters(in: .whitespaces) == "y"
      feed.send(isYes ? .approve([id]) : .cancel([id], by: .person))
    }
    ask()
  }

  /// The next line, nil at the end of the input, and the number of the question that stood when it was read.
  ///
  /// Blocks.
  /// A program in the background can't read its terminal: it waits until it is in the foreground.
  private func nextLine() -> (line: String?, question: Int) {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTTIN)
    // Without it, the read would stop the program and its jobs.
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    var request = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
    while true {
      if isTaken(input) { awaitForeground() }
      poll(&request, 1, -1)
      switch answer.withLock({ $0.takeByte(from: input) }) {
      case .more: continue
      case .line(let line, let question): return (line, question)
      case .background: awaitForeground()
      }
    }
  }

  /// Waits until no other program has the terminal, and discards the rest of its input.
  private func awaitForeground() {
    repeat {
      let isOver = DispatchSemaphore(value: 0)
      _ = clock.schedule(after: .milliseconds(200)) { isOver.signal() }
      isOver.wait()
    } while isTaken(input)
    answer.withLock { answer in
      answer.dropBytes()
      tcflush(input, TCIFLUSH)
    }
  }

  /// The bytes read so far of the answer to a question.
  struct Answer {
    enum Step: Equatable {
      case more
      /// A line, or nil for the end of the input, and the number of the question.
      case line(String?, question: Int)
      case background
    }

    private(set) var question = 0
    private var bytes: [UInt8] = []

    /// Drops the bytes of an answer to the question before.
    mutating func beginQuestion() {
      question += 1
      dropBytes()
    }

    mutating func dropBytes() { bytes = [] }

    /// Takes the next byte if there is one; does not wait for it.
    mutating func takeByte(from input: Int32) -> Step {
      var request = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
      // A new question may have dropped the bytes.
      guard poll(&request, 1, 0) > 0 else { return .more }
      var byte: UInt8 = 0
      let count = read(input, &byte, 1)
      if count < 0, errno == EINTR { return .more }
      if count < 0, errno == EIO, tcgetpgrp(input) != getpgrp(), tcgetsid(input) == getsid(0) { return .background }
      if count == 1, byte != UInt8(ascii: "\n") {
        bytes.append(byte)
        return .more
      }
      defer { bytes = [] }
      let isEnd = count != 1 && bytes.isEmpty
      return .line(isEnd ? nil : String(decoding: bytes, as: UTF8.self), question: question)
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
