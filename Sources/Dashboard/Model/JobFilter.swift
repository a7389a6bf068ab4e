import Foundation
import JobModel

/// The jobs that the list shows: terms that must all match, as in `fetch state:failed !kind:shell`.
struct JobFilter: Equatable {
  /// The field that a term matches; the raw value is its prefix.
  private enum Field: String, CaseIterable {
    case state = "state:"
    case kind = "kind:"
    case name = ""
  }

  private struct Term: Equatable {
    var field: Field
    var word: String
    var needle: Needle
    var isInverted: Bool
  }

  let text: String
  private let terms: [Term]

  static let everything = JobFilter("")

  init(_ text: String) {
    self.text = text
    terms = text.split(separator: " ").compactMap { part in
      let isInverted = part.hasPrefix("!")
      let rest = part.dropFirst(isInverted ? 1 : 0).lowercased()
      let field = Field.allCases.first { rest.hasPrefix($0.rawValue) } ?? .name
      let word = String(rest.dropFirst(field.rawValue.count))
      // An incomplete term excludes nothing.
      return word.isEmpty ? nil : Term(field: field, word: word, needle: Needle(word), isInverted: isInverted)
    }
  }

  var isEmpty: Bool { terms.isEmpty }

  /// `name` is the job's name as a haystack, and `state` has the words for its state.
  ///
  /// An event of the run itself has no state and no kind.
  func admits(name: [UInt8], state: @autoclosure () -> [String], kind: @autoclosure () -> String) -> Bool {
    terms.allSatisfy { term in
      let holds =
        switch term.field {
        case .name: term.needle.isFound(in: name)
        case .state: state().contains { $0.hasPrefix(term.word) }
        case .kind: kind().hasPrefix(term.word)
        }
      return holds != term.isInverted
    }
  }
}

/// The filter of the list and the jobs that it admits, updated with each change of state.
struct FilteredJobs {
  private(set) var filter = JobFilter.everything
  /// Changes whenever other jobs may be admitted.
  private(set) var version = 0
  private var admitted: [Bool] = []
  private var haystacks: [[UInt8]] = []
  private var changed: [JobID] = []
  private var isStale = false

  func admits(_ id: JobID) -> Bool { filter.isEmpty || admitted[id.index] }

  mutating func setFilter(_ filter: JobFilter) {
    guard filter != self.filter else { return }
    self.filter = filter
    isStale = true
  }

  /// Marks a job whose state has changed.
  mutating func note(_ id: JobID) { if !filter.isEmpty { changed.append(id) } }

  mutating func invalidate() { isStale = true }

  /// Applies the filter to the changed jobs, or to all if the filter or their number has changed.
  mutating func update(_ run: Run, _ index: JobIndex) {
    defer { changed.removeAll(keepingCapacity: true) }
    if filter.isEmpty ? isStale : isStale || admitted.count != run.jobs.count {
      isStale = false
      version += 1
      guard !filter.isEmpty else { return }
      if haystacks.count != run.jobs.count {
        // By index, because an element that is passed on is a copy of the whole record.
        haystacks = run.jobs.indices.map { Needle.haystack(run.jobs[$0].job.name) }
      }
      admitted = run.ids.map { admits($0, run, index) }
    } else {
      for id in changed {
        let isAdmitted = admits(id, run, index)
        if isAdmitted != admitted[id.index] { version += 1 }
        admitted[id.index] = isAdmitted
      }
    }
  }

  private func admits(_ id: JobID, _ run: Run, _ index: JobIndex) -> Bool {
    filter.admits(
      name: haystacks[id.index], state: index.words(of: id, in: run), kind: run.jobs[id.index].job.work.kind)
  }
}

/// A text to search for, ignoring case and how a letter with an accent is encoded.
struct Needle: Equatable {
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Self.haystack(text) }

  /// A text prepared for `isFound(in:)`.
  static func haystack(_ text: String) -> [UInt8] {
    let lower = text.lowercased()
    let isASCII = lower.utf8.allSatisfy { $0 < 0x80 }
    return Array((isASCII ? lower : lower.precomposedStringWithCanonicalMapping).utf8)
  }

  func isFound(in haystack: [UInt8]) -> Bool {
    guard let first = bytes.first else { return true }
    guard haystack.count >= bytes.count else { return false }
    return haystack.withUnsafeBufferPointer { hay in
      bytes.withUnsafeBufferPointer { needle in
        for start in 0...(hay.count - needle.count) where hay[start] == first {
          var length = 1
          while length < needle.count, hay[start + length] == needle[length] { length += 1 }
          if length == needle.count { return true }
        }
        return false
      }
    }
  }
}
