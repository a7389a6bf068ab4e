import Foundation

// Conversions and sums for numbers that a file, a process, a server or a database gives: none of them traps.

extension FixedWidthInteger {
  /// The nearest number of this type to `value` without its fraction; 0 for NaN.
  @inlinable package init(clamping value: Double) {
    if value.magnitude < 0x1p62 {
      // The conversion to `Int` is one instruction, that to a type that the compiler does not know some hundred.
      self = Self(clamping: Int(value))
    } else if let exact = Self(exactly: value.rounded(.towardZero)) {
      self = exact
    } else {
      self = value.isNaN ? 0 : value < 0 ? .min : .max
    }
  }

  /// The sum, or the nearest number of this type to it.
  package func plus(_ other: Self) -> Self {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? (other < 0 ? .min : .max) : sum
  }

  /// The product, or the nearest number of this type to it.
  package func times(_ other: Self) -> Self {
    let (product, isOver) = multipliedReportingOverflow(by: other)
    return isOver ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}

extension Duration {
  /// 30,000 years: sums of millions of them, in microseconds too, are within the range of their types.
  private static let limit = 1e12

  /// The nearest duration of whole microseconds to `seconds` that is not negative and small enough to add millions of
  /// them; zero for NaN.
  package init(clamping seconds: Double) {
    self = seconds > 0 ? .microseconds(Int64((min(seconds, Self.limit) * 1e6).rounded())) : .zero
  }

  /// The time of a clock of the system, such as `CLOCK_BOOTTIME`.
  package static func now(on clock: clockid_t) -> Duration {
    var time = timespec()
    clock_gettime(clock, &time)
    return Duration(time)
  }
}

extension Date {
  /// The nearest date to `seconds` since 1970 within the years 1 to 9999; 1970 for NaN.
  package init(clamping seconds: Double) {
    let range = -62_135_596_800.0...253_402_300_799.0
    self.init(timeIntervalSince1970: seconds.isNaN ? 0 : min(max(seconds, range.lowerBound), range.upperBound))
  }
}
