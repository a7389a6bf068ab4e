import Foundation

/// The operations that hold a category, and the operations that wait for it, in order.
///
/// A value, protected by the dependency graph's lock. An operation takes its categories when it starts, not before. An
/// operation on turn may start. If it doesn't start for a while (its queue may be suspended or full), the operations
/// behind it get the turn too, twice as many each time; the operation that starts takes the turn from the rest.
///
/// A waiting operation stands in the line of each of its categories, in the same order everywhere, and takes all of
/// them at once: the first of all waiting operations waits only for executing ones.
struct ExclusionTable {
  final class Request {
    enum State {
      case waiting
      case onTurn
      case holding
      case gone
    }

    let categories: Set<ExclusionCategory>
    private(set) weak var operation: Operation?
    fileprivate let id: ObjectIdentifier
    /// The groups that contain the operation, whose categories it shares.
    fileprivate let groups: Set<ObjectIdentifier>
    fileprivate var state = State.waiting
    var isHolding: Bool { state == .holding }

    init(_ operation: Operation, _ categories: Set<ExclusionCategory>, in groups: Set<ObjectIdentifier>) {
      self.operation = operation
      self.categories = categories
      id = ObjectIdentifier(operation)
      self.groups = groups
    }
  }

  /// Requests whose operations have to be notified, and categories to be watched.
  struct Changes {
    var allowed: [Request] = []
    var revoked: [Request] = []
    /// To be checked again after `patience`.
    var watches: [(ExclusionCategory, Int)] = []
    var disorder: Disorder?
  }

  /// Two categories that were each taken while the other was held.
  struct Disorder {
    var first: ExclusionCategory
    var second: ExclusionCategory
    /// The requests for the second category and for the first.
    var requests: [Request]
  }

  /// A category that was taken while a group around the operation held another.
  private struct Order: Hashable {
    var held: ExclusionCategory
    var taken: ExclusionCategory
  }

  private struct Line {
    /// A group and, after it, the operations that execute in it.
    var holders: [Request] = []
    private(set) var waiting: [Request] = []
    /// The number of waiting requests in a group.
    private var grouped = 0
    /// The maximum number of requests on turn.
    var reach = 1
    var turns = 0
    var watch = 0
    var isWatched = false

    /// The requests that may be on turn according to this line; `families` are the groups of all waiting requests.
    func inReach(_ families: [ObjectIdentifier: Int]) -> [Request] {
      guard let holder = holders.last else { return Array(waiting.prefix(reach)) }
      guard families[holder.id] != nil else { return [] }
      return Array(waiting.lazy.filter { $0.groups.contains(holder.id) }.prefix(reach))
    }

    /// Usually none, while thousands may wait.
    var inGroups: [Request] { grouped == 0 ? [] : waiting.filter { !$0.groups.isEmpty } }

    mutating func add(_ request: Request, first: Bool = false) {
      waiting.insert(request, at: first ? 0 : waiting.count)
      if !request.groups.isEmpty { grouped += 1 }
    }

    mutating func remove(_ request: Request) {
      guard let index = waiting.firstIndex(where: { $0 === request }) else { return }
      waiting.remove(at: index)
      if !request.groups.isEmpty { grouped -= 1 }
    }
  }

  /// The delay before other operations get the turn too, while an operation leaves its turn unused.
  static let patience = DispatchTimeInterval.milliseconds(10)

  private var lines: [ExclusionCategory: Line] = [:]
  /// The groups of the waiting requests, with the number of requests in each.
  private var families: [ObjectIdentifier: Int] = [:]
  /// The operations that hold categories.
  private var holding: Set<ObjectIdentifier> = []
  /// The orders of nested operations, each with a request that took them so.
  private var orders: [Order: Request] = [:]
  private static let mostOrders = 1000

  /// Whether an operation holds the category or waits for it.
  func has(_ category: ExclusionCategory) -> Bool { lines[category] != nil }

  /// The holders of the categories that a waiting request waits for, except groups that share them with it.
  func holders(before request: Request) -> [Operation] {
    guard request.state == .waiting else { return [] }
    return request.categories.flatMap { lines[$0]?.holders ?? [] }
      .filter { !request.groups.contains($0.id) }.compactMap(\.operation)
  }

  func isWaiting(_ request: Request) -> Bool { request.state == .waiting }

  mutating func enter(_ request: Request) -> Changes {
    for category in request.categories { lines[category, default: Line()].add(request) }
    for group in request.groups { families[group, default: 0] += 1 }
    return refresh(request.categories)
  }

  /// Moves a request to the front: its operation's start was deferred, so it occupies a slot of its queue.
  mutating func hurry(_ request: Request) -> Changes {
    guard request.state == .waiting else { return Changes() }
    for category in request.categories {
      lines[category]?.remove(request)
      lines[category]?.add(request, first: true)
    }
    return refresh(request.categories)
  }

  /// Makes an operation on turn hold its categories, because it starts.
  mutating func take(_ request: Request) -> Changes {
    require(request.state == .onTurn, "a category is taken by an operation on turn")
    request.state = .holding
    holding.insert(request.id)
    waitsNoLonger(request)
    var changes = Changes()
    if !request.groups.isEmpty, QueueEntryObserver.isNeeded { changes.disorder = noteOrder(of: request) }
    for category in request.categories {
      guard var line = lines.removeValue(forKey: category) else { continue }
      line.remove(request)
      line.turns -= 1
      line.holders.append(request)
      line.reach = 1
      line.isWatched = false
      lines[category] = line
    }
    for category in request.categories {
      guard let line = lines[category], line.turns > 0 else { continue }
      for other in line.waiting.filter({ $0.state == .onTurn }) {
        other.state = .waiting
        for category in other.categories { lines[category]?.turns -= 1 }
        changes.revoked.append(other)
      }
    }
    return changes
  }

  /// Records the order of a group's categories and a child's; returns a contradiction the first time.
  private mutating func noteOrder(of request: Request) -> Disorder? {
    var disorder: Disorder?
    for (category, line) in lines where !request.categories.contains(category) {
      guard line.holders.contains(where: { request.groups.contains($0.id) }) else { continue }
      for own in request.categories {
        let order = Order(held: category, taken: own)
        guard orders[order] == nil, orders.count < Self.mostOrders else { continue }
        orders[order] = request
        guard let other = orders[Order(held: own, taken: category)] else { continue }
        disorder = Disorder(first: category, second: own, requests: [request, other])
      }
    }
    return disorder
  }

  /// Removes a request whose operation has finished or no longer waits.
  mutating func leave(_ request: Request) -> Changes {
    guard request.state != .gone else { return Changes() }
    if request.isHolding { holding.remove(request.id) } else { waitsNoLonger(request) }
    for category in request.categories {
      guard var line = lines.removeValue(forKey: category) else { continue }
      switch request.state {
      case .holding: line.holders.removeAll { $0 === request }
      case .waiting: line.remove(request)
      case .onTurn:
        line.remove(request)
        line.turns -= 1
      case .gone: break
      }
      if !line.holders.isEmpty || !line.waiting.isEmpty { lines[category] = line }
    }
    request.state = .gone
    return refresh(request.categories)
  }

  private mutating func waitsNoLonger(_ request: Request) {
    for group in request.groups {
      guard let count = families[group] else { continue }
      families[group] = count > 1 ? count - 1 : nil
    }
  }

  /// Extends the turn to more requests, `patience` after the watch was requested.
  mutating func look(at category: ExclusionCategory, _ watch: Int) -> Changes {
    guard let line = lines[category], line.isWatched, line.watch == watch else { return Changes() }
    lines[category]?.isWatched = false
    lines[category]?.reach *= 2
    return refresh([category])
  }

  /// Gives the turn to all requests that may have it now.
  private mutating func refresh(_ categories: Set<ExclusionCategory>) -> Changes {
    var changes = Changes()
    // With the categories of the requests that get the turn: others may wait behind them there.
    var used = categories
    let isAnyInside = !families.isEmpty && holding.contains { families[$0] != nil }
    for category in categories {
      guard let line = lines[category] else { continue }
      let candidates = line.inReach(families) + (isAnyInside ? line.inGroups : [])
      for request in candidates where request.state == .waiting && isFree(request) {
        request.state = .onTurn
        for category in request.categories { lines[category]?.turns += 1 }
        changes.allowed.append(request)
        used.formUnion(request.categories)
      }
    }
    for category in used {
      guard let line = lines[category], line.turns > 0, !line.isWatched, line.waiting.count > line.reach else {
        continue
      }
      lines[category]?.isWatched = true
      lines[category]?.watch += 1
      changes.watches.append((category, line.watch + 1))
    }
    return changes
  }

  /// Whether a request is in reach in the line of each of its categories.
  ///
  /// Children of a group that holds one of the categories go before all requests waiting for the others, because these
  /// may wait for the group.
  private func isFree(_ request: Request) -> Bool {
    let isInside = request.categories.contains { category in
      lines[category]?.holders.last.map { request.groups.contains($0.id) } == true
    }
    return request.categories.allSatisfy { category in
      guard let line = lines[category] else { return false }
      return isInside && line.holders.isEmpty || line.inReach(families).contains { $0 === request }
    }
  }
}

/// A resource that only one operation at a time may use.
///
/// Can be written as a string literal: `.mutuallyExclusive("alerts")`.
public struct ExclusionCategory: Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name; equal names are the same category, in the whole program.
  public let name: String

  /// Makes a category from its name.
  public init(_ name: String) { self.name = name }

  /// Makes a category from its name.
  public init(stringLiteral name: String) { self.init(name) }
}
