import Testing

@testable import JobFiles

struct PlaceTests {
  @Test func aPlaceKeepsItsNumbersUpToTheirLimits() {
    let place = Place(line: 134_217_727, column: 134_217_726, file: 1023)
    #expect([place.line, place.column, place.file] == [134_217_727, 134_217_726, 1023])
    #expect(Place(line: 3, column: 4).file == 0)
  }

  @Test func numbersBeyondTheirLimitsBecomeTheLimit() {
    for number in [134_217_728, Int.max] {
      let place = Place(line: number, column: number, file: 3)
      #expect([place.line, place.column, place.file] == [134_217_727, 134_217_727, 3])
    }
    let none = Place(line: -1, column: -7, file: 2)
    #expect([none.line, none.column, none.file] == [0, 0, 2])
  }

  @Test func placesAreInTheOrderOfFilesThenLinesThenColumns() {
    let sorted = [
      Place(line: 1, column: 1), Place(line: 1, column: 2), Place(line: 2, column: 1),
      Place(line: 1, column: 1, file: 1),
    ]
    #expect(sorted.reversed().sorted() == sorted)
    #expect(sorted.allSatisfy { !($0 < $0) })
  }

  @Test func aPlaceOfAnotherFileHasTheSameLineAndColumn() {
    #expect(Place(line: 3, column: 4, file: 2).of(file: 5) == Place(line: 3, column: 4, file: 5))
    #expect(Place(line: 3, column: 4, file: 2).words == "line 3, column 4")
    #expect(Place.start == Place(line: 1, column: 1, file: 0))
  }
}
