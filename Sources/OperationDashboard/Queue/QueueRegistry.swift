import Foundation
import JobEngine
import JobModel
import Operations

/// The operations of the observed queue by identity, with their numbers and names; under the feed's lock.
struct QueueRegistry {
  /// The members with an unfinished operation, by the identities of the operation and of its wrapper.
  private var members: [ObjectIdentifier: QueueMember] = [:]
  private var wrappers: [ObjectIdentifier: AdaptedOperation] = [:]
  /// The names of all jobs; where several operations have the same, the last number given to one of them.
  private var names: [String: Int] = [:]
  private var parentNames: [JobID: String] = [:]
  /// How many attempts of each parent have been named.
  private var attempts: [JobID: Int] = [:]
  private var nextID = 0
  /// The members that are registered and not yet stated.
  private var arrivals: [Arrival] = []
  /// Whether the run has ended: nothing is registered any more.
  private(set) var isOver = false

  struct Arrival {
    var member: QueueMember
    /// Nil for another attempt of a job.
    var job: Job?
  }

  func member(of operation: Operation) -> QueueMember? { members[ObjectIdentifier(operation)] }

  func isKnown(_ operation: Operation) -> Bool { member(of: operation) != nil }

  mutating func takeArrivals() -> [Arrival] { exchange(&arrivals, with: []) }

  /// Forgets all members; returns the arrivals that are not stated.
  mutating func end() -> [Arrival] {
    let arrivals = arrivals
    self = QueueRegistry()
    isOver = true
    return arrivals
  }

  mutating func forget(_ member: QueueMember) {
    members[ObjectIdentifier(member.operation)] = nil
    if let wrapper = member.observed as? AdaptedOperation, wrapper !== member.operation {
      members[ObjectIdentifier(wrapper)] = nil
      wrappers[ObjectIdentifier(wrapper.operation)] = nil
    }
  }

  /// The operation that a person sees: inside a wrapper that an earlier feed of the queue made, or the operation itself.
  mutating func unwrap(_ operation: Operation) -> Operation {
    guard !isOver, let wrapper = operation as? AdaptedOperation, wrapper.standsForOperation else { return operation }
    wrappers[ObjectIdentifier(wrapper.operation)] = wrapper
    return wrapper.operation
  }

  /// The operations that go into the queue: after `wrap`, wrappers instead of the wrapped ones.
  func enqueued(_ operations: [Operation]) -> [Operation] {
    operations.map { wrappers[ObjectIdentifier($0)] ?? $0 }
  }

  /// Wraps the operations that aren't `AsyncOperation`s; the wrappers take over their dependencies.
  ///
  /// Throws if the dependencies form a cycle; then nothing has changed.
  mutating func wrap(_ operations: [Operation]) throws(OperationError) {
    let foreign = operations.filter { !($0 is AsyncOperation) }
    guard !foreign.isEmpty else { return }
    let new = Dictionary(
      foreign.map { (ObjectIdentifier($0), AdaptedOperation($0, takesDependencies: false)) },
      uniquingKeysWith: { first, _ in first })
    for operation in foreign {
      guard let wrapper = new[ObjectIdentifier(operation)] else { continue }
      for dependency in operation.dependencies where !dependency.isFinished {
        let id = ObjectIdentifier(dependency)
        try wrapper.addDependencyOrThrow(new[id] ?? wrappers[id] ?? dependency)
      }
    }
    wrappers.merge(new) { _, new in new }
  }

  /// Numbers the unknown operations and all their children before it describes any of them, because an operation may
  /// depend on a later one.
  mutating func enroll(
    _ operations: [Operation], under parent: QueueMember? = nil,
    factories: [ObjectIdentifier: QueueMember.Factory] = [:]
  ) -> [QueueMember] {
    guard !isOver else { return [] }
    var new: [(member: QueueMember, parent: QueueMember?)] = []
    for operation in operations where !isKnown(operation) {
      new.append((register(operation, under: parent, factory: factories[ObjectIdentifier(operation)]), parent))
    }
    return describe(new)
  }

  mutating func enroll(_ operation: Operation, asAttempt number: Int, of id: JobID) -> [QueueMember] {
    guard !isOver else { return [] }
    let (observed, visibility) = visibility(of: operation)
    let member = QueueMember(operation, observed: observed, visibility: visibility, id: id, number: number)
    add(member)
    member.needs = needs(of: member)
    arrivals.append(Arrival(member: member, job: nil))
    return [member] + describe(registerChildren(of: member))
  }

  private func visibility(of operation: Operation) -> (AsyncOperation?, OperationWork.Visibility) {
    if let ours = operation as? AsyncOperation { return (ours, .whole) }
    let wrapper = wrappers[ObjectIdentifier(operation)]
    return (wrapper, wrapper == nil ? .end : .wrapped)
  }

  private mutating func register(
    _ operation: Operation, under parent: QueueMember?, factory: QueueMember.Factory? = nil
  ) -> QueueMember {
    let (observed, visibility) = visibility(of: operation)
    let member = QueueMember(
      operation, observed: observed, visibility: visibility, id: JobID(nextID), parent: parent, factory: factory)
    nextID += 1
    add(member)
    return member
  }

  private mutating func add(_ member: QueueMember) {
    members[ObjectIdentifier(member.operation)] = member
    // A wrapper in the queue must not be taken for a new operation.
    if let observed = member.observed { members[ObjectIdentifier(observed)] = member }
  }

  private mutating func registerChildren(of parent: QueueMember) -> [(member: QueueMember, parent: QueueMember?)] {
    guard let operation = parent.operation as? any ParentOperation else { return [] }
    return operation.unfinishedChildren.filter { !isKnown($0) }.map { (register($0, under: parent), parent) }
  }

  /// Describes members and their children, in the order of their numbers.
  private mutating func describe(_ new: [(member: QueueMember, parent: QueueMember?)]) -> [QueueMember] {
    var all = new
    var next = 0
    while next < all.count {
      all += registerChildren(of: all[next].member)
      next += 1
    }
    for (member, parent) in all {
      arrivals.append(Arrival(member: member, job: describe(member, under: parent)))
    }
    return all.map(\.member)
  }

  private mutating func describe(_ member: QueueMember, under parent: QueueMember?) -> Job {
    let operation = member.operation
    let className = "\(type(of: operation))"
    let work = OperationWork(
      className: className, visibility: member.visibility, canPause: operation is any ControllableOperation,
      canRetry: member.factory != nil)
    member.needs = needs(of: member)
    let name = name(of: member, className, under: parent)
    if operation is any ParentOperation { parentNames[member.id] = name }
    return Job(
      name: name, work: .operation(work), needs: member.needs.map { JobNeed($0, when: .finished) },
      priority: JobPriority(operation.queuePriority), allowFailure: member.mayFail, parent: parent?.id)
  }

  private func needs(of member: QueueMember) -> [JobID] {
    member.operation.dependencies.compactMap { self.member(of: $0)?.id }.filter { $0 != member.id }
  }

  /// The operation's own name, unless it is blank; an unnamed attempt has its parent's name and a number: `fetch #2`.
  private mutating func name(of member: QueueMember, _ className: String, under parent: QueueMember?) -> String {
    if let own = member.operation.name, own.contains(where: { !$0.isWhitespace }) { return unique(own) }
    guard let parent, let name = parentNames[parent.id],
      (parent.operation as? any ParentOperation)?.isAttempt(member.operation) == true
    else { return unique(className) }
    attempts[parent.id, default: 0] += 1
    return unique("\(name) #\(attempts[parent.id] ?? 1)")
  }

  /// `fetch`, then `fetch 2`: two lines of the same name could not be told apart.
  private mutating func unique(_ name: String) -> String {
    let flat = name.split(whereSeparator: \.isNewline).joined(separator: " ")
    guard var number = names[flat] else {
      names[flat] = 1
      return flat
    }
    // Another operation may have the name `fetch 2`.
    repeat { number += 1 } while names["\(flat) \(number)"] != nil
    names[flat] = number
    names["\(flat) \(number)"] = 1
    return "\(flat) \(number)"
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
