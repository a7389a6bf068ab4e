import JobFiles
import JobModel
import Screen
import Session

/// The candidates for the end of a command line that is being typed.
struct Completion {
  struct Candidate: Equatable {
    var text: String
    var summary = ""
  }

  /// The candidates that a shell offers.
  enum Answer: Equatable {
    case candidates([Candidate])
    /// Files, with these endings if there are any.
    case files([String])
    case folders
  }

  /// The words after the program's name; the last one, which may be empty, is being typed.
  let words: [String]
  let scenarios: [Candidate]
  /// The jobs of the file that the operands of a command line name, or else of the one that is found.
  let jobs: (_ operands: [String]) -> [Candidate]
  /// The names of the recorded runs, the newest first; on request only the runs that can be resumed.
  let runs: (_ areUnfinished: Bool) -> [Candidate]
  /// The names of the runs that are going on.
  let live: () -> [Candidate]

  /// The line without the word that is being typed.
  private struct Line {
    var command: CommandName?
    var operands: [String] = []
    /// The option that the next word is the value of.
    var pending: Option?
    var isOver = false

    init(_ words: some Sequence<String>) {
      for word in words {
        if pending != nil {
          pending = nil
        } else if word == "--", !isOver {
          isOver = true
        } else if word.hasPrefix("--"), !isOver {
          pending = Option.named(word.dropFirst(2)).flatMap { $0.valueName == nil ? nil : $0 }
        } else if word.hasPrefix("-"), word != "-", !isOver {
          pending = Self.valueOption(inLetters: word, of: command)
        } else if command == nil {
          command = CommandName(rawValue: word) ?? .run
          // `opdash JOB...` is short for `opdash run JOB...`.
          if command?.rawValue != word { operands.append(word) }
        } else {
          operands.append(word)
        }
      }
    }

    /// The option whose value is the word after `-nj`.
    private static func valueOption(inLetters word: String, of command: CommandName?) -> Option? {
      for (index, letter) in word.dropFirst().enumerated() {
        guard let option = Option.lettered(letter, for: command) else { return nil }
        if option.valueName != nil { return index == word.count - 2 ? option : nil }
      }
      return nil
    }
  }

  var answer: Answer {
    let current = words.last ?? ""
    let line = Line(words.dropLast())
    if let option = line.pending { return values(of: option, prefix: "", current, line) }
    if !line.isOver, current.hasPrefix("--"), let equals = current.firstIndex(of: "="),
      let option = Option.named(current[..<equals].dropFirst(2))
    {
      return values(of: option, prefix: String(current[...equals]), current, line)
    }
    if !line.isOver, current.hasPrefix("-") {
      let options = Option.all.filter { option in
        option.commands.isEmpty || line.command.map(option.isOf) ?? false
      }
      return fitting(options.map { Candidate(text: $0.spelled, summary: $0.summary) }, current)
    }
    guard let command = line.command else {
      let commands = CommandName.allCases.map { Candidate(text: $0.rawValue, summary: $0.row.summary) }
      return fitting(commands + (current.isEmpty ? [] : jobs([])), current)
    }
    return operands(of: command, line.operands, current)
  }

  private func operands(of command: CommandName, _ before: [String], _ current: String) -> Answer {
    let operands = command.row.operands
    guard before.count < operands.limit else { return .candidates([]) }
    switch operands {
    // A command line of another program.
    case .commandLine: return before.isEmpty ? .candidates([]) : .files([])
    case .fileAndJobs:
      let answer = fitting(jobs(before).filter { !before.contains($0.text) }, current)
      return answer == .candidates([]) && before.isEmpty ? .files(JobFileSearch.extensions) : answer
    case .runAndJob where !before.isEmpty: return fitting(jobs([]), current)
    case .run, .twoRuns, .runOrFile, .runAndJob:
      let answer = fitting(runs(command == .resume) + [Candidate(text: "last", summary: "the newest run")], current)
      return answer == .candidates([]) && operands == .runOrFile ? .files([]) : answer
    case .runAndJobs where !before.isEmpty: return fitting(jobs([]), current)
    case .runOrProcess, .runAndJobs: return fitting(live(), current)
    case .runAndNumber: return before.isEmpty ? fitting(live(), current) : .candidates([])
    case .file: return .files(JobFileSearch.extensions)
    case .runAndFile:
      let answer = before.isEmpty ? fitting(live(), current) : .candidates([])
      return answer == .candidates([]) ? .files(JobFileSearch.extensions) : answer
    case .foreignFile:
      return before.isEmpty
        ? fitting(ImportFormat.allCases.map { Candidate(text: $0.rawValue) }, current) : .files([])
    case .scenario: return fitting(scenarios, current)
    case .topic:
      return fitting(HelpTopic.allCases.map { Candidate(text: $0.word, summary: $0.page.summary) }, current)
    case .shell: return fitting(CompletionScript.allCases.map { Candidate(text: $0.rawValue) }, current)
    case .urls, .none: return .candidates([])
    }
  }

  private func values(of option: Option, prefix: String, _ current: String, _ line: Line) -> Answer {
    switch option.candidates {
    case .jobs:
      let all = jobs(line.operands) + [Candidate(text: "all", summary: "every job that asks")]
      return fitting(all.map { Candidate(text: prefix + $0.text, summary: $0.summary) }, current)
    case .words(let words):
      // Only `each` prints what commands write as it is.
      let words = words.filter { $0 != "raw" || line.command == .each }
      return fitting(words.map { Candidate(text: prefix + $0) }, current)
    // The shells complete files in words of their own only.
    case .files where prefix.isEmpty: return .files([])
    case .folders where prefix.isEmpty: return .folders
    case .none, .files, .folders: return .candidates([])
    }
  }

  private func fitting(_ candidates: [Candidate], _ current: String) -> Answer {
    .candidates(candidates.filter { $0.text.hasPrefix(current) })
  }
}

extension Completion.Answer {
  /// The lines for the scripts: a candidate and its summary on each line, or `-files` with the endings, or `-folders`.
  ///
  /// No candidate begins with a single hyphen.
  var lines: [TerminalText] {
    switch self {
    case .candidates(let candidates): candidates.map { "\($0.text)\t\($0.summary)" }
    case .files(let endings): ["-files\t\(endings.joined(separator: " "))"]
    case .folders: ["-folders\t"]
    }
  }
}
