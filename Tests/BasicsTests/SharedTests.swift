import Basics
import Testing

@Suite struct SharedTests {
  @Test func aCopyKeepsItsValueWhenTheOtherIsChanged() {
    let first = Shared([1, 2])
    var second = first
    second.value.append(3)
    #expect(first.value == [1, 2])
    #expect(second.value == [1, 2, 3])
  }

  @Test func anUnsharedValueIsChangedInItsPlace() {
    var only = Shared(Array(0..<100))
    let place = only.value.withUnsafeBufferPointer(\.baseAddress)
    only.value[3] = 7
    #expect(only.value.withUnsafeBufferPointer(\.baseAddress) == place)
    let other = only
    only.value[3] = 8
    #expect(other.value[3] == 7)
  }

  @Test func equalValuesAreEqualWhetherSharedOrNot() {
    let first = Shared("a")
    let copy = first
    #expect(first == copy)
    #expect(first == Shared("a"))
    #expect(first != Shared("b"))
  }
}
