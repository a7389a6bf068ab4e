import JobModel
import Session

/// A topic of `opdash help`.
enum HelpTopic: Equatable, CaseIterable {
  case command(CommandName)
  case jobs
  case events

  static let allCases: [HelpTopic] = CommandName.allCases.map { .command($0) } + [.jobs, .events]

  var word: String {
    switch self {
    case .command(let command): command.rawValue
    case .jobs: "jobs"
    case .events: "events"
    }
  }

  static func named(_ word: String) throws(UsageError) -> HelpTopic {
    if let topic = allCases.first(where: { $0.word == word }) { return topic }
    let near = NearestName.of(word, in: allCases.map(\.word)).map { ": did you mean '\($0)'?" } ?? "; see opdash help"
    throw UsageError("there is no help on '\(word)'\(near)")
  }

  var page: HelpText {
    switch self {
    case .command(let command): command.page
    case .jobs: .jobs
    case .events: .events
    }
  }
}
