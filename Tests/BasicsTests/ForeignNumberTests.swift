import Foundation
import Testing

@testable import Basics

/// Numbers from outside, at the ends of the types' ranges.
struct ForeignNumberTests {
  @Test func aDoubleBecomesTheNearestNumber() {
    #expect(Int64(clamping: 1e30) == .max)
    #expect(Int64(clamping: -1e30) == .min)
    #expect(Int64(clamping: 0x1p63) == .max)
    #expect(Int64(clamping: -0x1p63) == .min)
    #expect(Int64(clamping: Double.infinity) == .max)
    #expect(Int64(clamping: -Double.infinity) == .min)
    #expect(Int64(clamping: Double.nan) == 0)
    #expect(Int64(clamping: -3.9) == -3)
    #expect(UInt8(clamping: 255.9) == 255)
    #expect(UInt8(clamping: 256.0) == 255)
    #expect(UInt8(clamping: -0.5) == 0)
    #expect(UInt8(clamping: -1.0) == 0)
  }

  @Test func aSumStaysInItsRange() {
    #expect(Int.max.plus(1) == .max)
    #expect(Int.min.plus(-1) == .min)
    #expect((-3).plus(5) == 2)
    #expect(UInt8(250).plus(6) == 255)
  }

  @Test func aProductStaysInItsRange() {
    #expect(Int.max.times(2) == .max)
    #expect(Int.max.times(-2) == .min)
    #expect(Int.min.times(-1) == .max)
    #expect(Int.min.times(2) == .min)
    #expect((-3).times(5) == -15)
  }

  @Test func durationsCanBeAddedByTheMillion() {
    let longest = Duration(clamping: 1e300)
    #expect(longest == Duration(clamping: .infinity) && longest > .seconds(1_000_000_000))
    #expect((longest * 1_000_000).components.seconds > 0)
    #expect(longest.components.seconds.multipliedReportingOverflow(by: 1_000_000).overflow == false)
    #expect(Duration(clamping: 1.5) == .seconds(1.5))
    // As a double it is 0.00000000000000000295 less.
    #expect(Duration(clamping: 0.123457) == .microseconds(123_457))
    #expect(Duration(clamping: -1) == .zero && Duration(clamping: .nan) == .zero)
  }

  @Test func datesHaveFourDigitsForTheYear() {
    let calendar = Calendar(identifier: .gregorian)
    #expect(calendar.component(.year, from: Date(clamping: 1e300)) >= 9999)
    #expect(calendar.component(.year, from: Date(clamping: 1e300)) <= 10_000)
    #expect(Date(clamping: -1e300) == Date(timeIntervalSince1970: -62_135_596_800))
    #expect(Date(clamping: 5.5) == Date(timeIntervalSince1970: 5.5))
    #expect(Date(clamping: .nan) == Date(timeIntervalSince1970: 0))
  }
}
