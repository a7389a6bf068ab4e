import Foundation

/// Effects of a change of the dependency graph, carried out once its lock is free.
struct DeferredEffects {
  /// Operations whose readiness has changed: their queues read it again.
  var changed: [AsyncOperation] = []
  /// Operations of other classes that have become ready, whose priority may have changed since it was read.
  var unread: [(operation: Operation, node: DependencyNode)] = []
  var actions: [@Sendable () -> Void] = []
  /// Only retained: a last reference must not be released under the lock.
  private var released: [Operation] = []

  /// A dependency queue with ready nodes, and further dependency queues; usually there is one.
  private var holder: (any AdmittingQueue)?
  private var holders: [any AdmittingQueue] = []
  private var admission: Admission?

  mutating func release(_ operations: [Operation]) {
    if released.isEmpty { released = operations } else { released += operations }
  }

  mutating func feed(_ holder: any AdmittingQueue) {
    guard self.holder !== holder, holders.last !== holder else { return }
    if self.holder == nil { self.holder = holder } else { holders.append(holder) }
  }

  /// Called under the lock, as the last step: the first holder then needs no lock of its own.
  mutating func close() {
    if unread.isEmpty { admission = holder?.takeAdmission() }
  }

  func carryOut(readPriority: (Operation, DependencyNode) -> Void) {
    for operation in changed { operation.postReadiness() }
    for (operation, node) in unread { readPriority(operation, node) }
    if let admission { holder?.admit(admission) } else { holder?.nodesAreReady() }
    for holder in holders { holder.nodesAreReady() }
    for action in actions { action() }
  }
}
