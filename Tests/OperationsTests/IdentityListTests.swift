import Foundation
import Testing

@testable import Operations

@Suite struct IdentityListTests {
  private let operations = (0..<20).map { _ in Operation() }

  private func list(_ operations: some Sequence<Operation>) -> IdentityList<Operation> {
    var list = IdentityList<Operation>()
    for operation in operations { list.append(operation) }
    return list
  }

  /// Those of the operations that the list finds.
  private func found(_ list: inout IdentityList<Operation>) -> [Operation] { operations.filter { list.contains($0) } }

  /// The ways of looking for an element change with the number of elements.
  @Test func eachElementIsFoundHoweverManyThereAre() {
    var list = list([])
    for (count, operation) in operations.enumerated() {
      list.append(operation)
      let found = found(&list)
      #expect(found == Array(operations[...count]))
    }
    #expect(list.items == operations && list.count == 20)
    let eleventh = list.find(operations[11].identity)
    #expect(eleventh === operations[11])
  }

  @Test func aRemovedElementIsNotFoundAndTheOthersAre() {
    var list = list(operations)
    let removals = [list.remove(operations[3].identity), list.remove(operations[3].identity)]
    #expect(removals == [operations[3], nil])
    let (missing, left) = (list.find(operations[3].identity), found(&list))
    var others = operations
    others.remove(at: 3)
    #expect(missing == nil && left == others)
    list.append(operations[3])
    let all = found(&list)
    #expect(all == operations)
    others.append(operations[3])
    #expect(list.items == others)
  }

  @Test func theOrderStaysWhateverIsRemoved() {
    for order in [Array(0..<20), (0..<20).reversed(), (0..<20).shuffled()] {
      var list = list(operations)
      var left = operations
      for index in order {
        let removed = list.remove(operations[index].identity)
        #expect(removed === operations[index])
        left.removeAll { $0 === operations[index] }
        var visited: [Operation] = []
        list.visit { visited.append($0) }
        #expect(list.items == left && visited == left && list.count == left.count)
      }
      #expect(list.isEmpty)
    }
  }

  @Test func aRemovedElementIsReleasedAtOnce() {
    var list = list(operations)
    weak var freed: Operation?
    do {
      let operation = Operation()
      freed = operation
      list.append(operation)
      list.remove(operation.identity)
    }
    #expect(freed == nil)
  }

  @Test func aTakenListIsEmpty() {
    var list = list(operations)
    let taken = list.takeAll()
    #expect(taken == operations)
    let found = found(&list)
    #expect(list.items == [] && found == [])
    list.append(operations[0])
    #expect(list.items == [operations[0]])
  }
}
