import Foundation
import JobEngine
import JobModel
import Operations

/// The operations of the observed queue by identity, with their numbers and names; under the feed's lock.
struct QueueRegistry {
  /// Unfinished operations of the program, by identity.
  private var ids: [ObjectIdentifier: JobID] = [:]
  private var wrappers: [ObjectIdentifier: AdaptedOperation] = [:]
  private var names: [String: Int] = [:]
  private var nextID = 0
  /// Registered and not yet stated.
  private var arrivals: [Arrival] = []

  struct Arrival {
    var member: QueueMember
    var job: Job
  }

  func isKnown(_ operation: Operation) -> Bool { ids[ObjectIdentifier(operation)] != nil }

  mutating func takeArrivals() -> [Arrival] {
    defer { arrivals = [] }
    return arrivals
  }

  mutating func forget(_ member: QueueMember) {
    ids[ObjectIdentifier(member.operation)] = nil
    if let wrapper = member.observed as? AdaptedOperation, wrapper !== member.operation {
      ids[ObjectIdentifier(wrapper)] = nil
      wrappers[ObjectIdentifier(wrapper.operation)] = nil
    }
  }

  /// Wraps operations of other classes, whose dependencies the wrappers take over.
  ///
  /// Throws if those form a cycle; then nothing has changed.
  mutating func wrap(_ operations: [Operation]) throws(DependencyCycle) -> [ObjectIdentifier: AdaptedOperation] {
    let foreign = operations.filter { !($0 is AsyncOperation) }
    guard !foreign.isEmpty else { return [:] }
    let new = Dictionary(
      foreign.map { (ObjectIdentifier($0), AdaptedOperation($0, takesDependencies: false)) },
      uniquingKeysWith: { first, _ in first })
    for operation in foreign {
      guard let wrapper = new[ObjectIdentifier(operation)] else { continue }
      for dependency in operation.dependencies where !dependency.isFinished {
        let id = ObjectIdentifier(dependency)
        try wrapper.depend(on: new[id] ?? wrappers[id] ?? dependency)
      }
    }
    wrappers.merge(new) { _, new in new }
    return new
  }

  /// Numbers operations, all of them before any is described: one may depend on another further on.
  mutating func enroll(
    _ operations: [Operation], visibility: (Operation) -> (AsyncOperation?, OperationWork.Visibility)
  ) -> [QueueMember] {
    let members = operations.map { operation in
      let (observed, visibility) = visibility(operation)
      let member = QueueMember(id: JobID(nextID), operation: operation, observed: observed, visibility: visibility)
      nextID += 1
      ids[ObjectIdentifier(operation)] = member.id
      // A wrapper that is found in the queue is no new operation.
      if let observed { ids[ObjectIdentifier(observed)] = member.id }
      return member
    }
    for member in members { arrivals.append(Arrival(member: member, job: describe(member))) }
    return members
  }

  private mutating func describe(_ member: QueueMember) -> Job {
    let operation = member.operation
    let className = "\(type(of: operation))"
    let work = OperationWork(
      className: className, visibility: member.visibility, canPause: operation is any ControllableOperation)
    var needs: [JobNeed] = []
    for dependency in operation.dependencies {
      guard let id = ids[ObjectIdentifier(dependency)] else { continue }
      let need = JobNeed(id, when: .finished)
      if id != member.id { needs.append(need) }
    }
    let name = operation.name.flatMap { $0.isEmpty ? nil : $0 } ?? className
    return Job(
      name: unique(name), work: .operation(work), needs: needs, priority: JobPriority(operation.queuePriority))
  }

  /// `fetch`, then `fetch 2`: two lines of the same name could not be told apart.
  private mutating func unique(_ name: String) -> String {
    let flat = name.split(whereSeparator: \.isNewline).joined(separator: " ")
    let number = names[flat, default: 0] + 1
    names[flat] = number
    return number == 1 ? flat : "\(flat) \(number)"
  }
}

extension JobPriority {
  init(_ priority: Operation.QueuePriority) {
    switch priority {
    case .veryLow: self = .veryLow
    case .low: self = .low
    case .normal: self = .normal
    case .high: self = .high
    case .veryHigh: self = .veryHigh
    @unknown default: self = .normal
    }
  }
}
