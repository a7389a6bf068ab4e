import Foundation

/// The waits between the attempts of a series.
public struct Backoff: Sendable, Equatable {
  /// The growth of the waits.
  public enum Growth: Sendable, Equatable {
    /// All waits are equal.
    case constant(Duration)
    /// Each wait is longer than the last by the same duration.
    case incrementing(first: Duration, by: Duration)
    /// Each wait is a multiple of the last.
    case exponential(first: Duration, factor: Double)
    /// 1, 1, 2, 3, 5, 8 ... units: each wait is the sum of the two before.
    case fibonacci(unit: Duration)
  }

  /// The random part of each wait, so that many operations that failed together don't retry together.
  public struct Jitter: Sendable, Equatable {
    /// The random share of the wait, from 0 (none) to 1 (all of it); values outside count as the nearest bound.
    public var share: Double
    /// The seed; the same seed gives the same waits.
    public var seed: UInt64
  }

  /// The growth of the waits.
  public var growth: Growth
  /// The longest wait; nil means a billion seconds.
  public var cap: Duration?
  /// The jitter; nil for none.
  public var jitter: Jitter?

  /// Makes a series without a cap and without jitter.
  public init(_ growth: Growth) { self.growth = growth }

  /// A series of equal waits.
  public static func constant(_ duration: Duration) -> Backoff { Backoff(.constant(duration)) }

  /// A series that begins with `first` and grows by `step` each time.
  public static func incrementing(_ first: Duration, by step: Duration) -> Backoff {
    Backoff(.incrementing(first: first, by: step))
  }

  /// A series that begins with `first`, multiplied by `factor` each time; a negative or NaN factor is a programmer
  /// error.
  public static func exponential(_ first: Duration, factor: Double = 2) -> Backoff {
    require(factor >= 0, "the factor of a backoff is 0 or more, not \(factor)")
    return Backoff(.exponential(first: first, factor: factor))
  }

  /// A series of `unit` times 1, 1, 2, 3, 5, 8 and so on.
  public static func fibonacci(_ unit: Duration) -> Backoff { Backoff(.fibonacci(unit: unit)) }

  /// The same series with no wait longer than `cap`, jitter included.
  public func capped(at cap: Duration) -> Backoff {
    var backoff = self
    backoff.cap = cap
    return backoff
  }

  /// The same series with each wait drawn evenly between `1 - share` of it and the whole.
  public func jittered(_ share: Double = 0.5, seed: UInt64 = .random(in: .min ... .max)) -> Backoff {
    require((0...1).contains(share), "the share of jitter is between 0 and 1, not \(share)")
    var backoff = self
    backoff.jitter = Jitter(share: share, seed: seed)
    return backoff
  }

  /// The wait before a retry; 1 is the first retry.
  ///
  /// Never negative, and always the same for the same number.
  public func delay(beforeRetry number: Int) -> Duration {
    require(number > 0, "retries are counted from 1; there is no retry \(number)")
    let longest = min(1e9, max(0, (cap ?? .seconds(1e9)) / .seconds(1)))
    let plain = min(longest, Self.notNegative(seconds(number)))
    guard let jitter else { return .seconds(plain) }
    // A share that was set after `jittered` may have any value.
    let share = min(1, Self.notNegative(jitter.share))
    return .seconds(plain * (1 - share * Self.random(jitter.seed, UInt64(number))))
  }

  /// The value, but at least 0, and 0 for NaN: growth and jitter may be set to any value.
  private static func notNegative(_ value: Double) -> Double { value > 0 ? value : 0 }

  private func seconds(_ number: Int) -> Double {
    switch growth {
    case .constant(let duration): return duration / .seconds(1)
    case .incrementing(let first, let step): return first / .seconds(1) + Double(number - 1) * (step / .seconds(1))
    case .exponential(let first, let factor):
      let first = first / .seconds(1)
      guard first > 0 else { return 0 }
      // Too large a power is infinite, and capped.
      return first * pow(factor, Double(number - 1))
    case .fibonacci(let unit):
      var (last, next) = (0.0, 1.0)
      // Beyond 1,000 every wait is longer than any cap.
      for _ in 1..<min(number, 1000) { (last, next) = (next, last + next) }
      return unit > .zero ? unit / .seconds(1) * next : 0
    }
  }

  /// From 0 up to, but not including, 1.
  private static func random(_ seed: UInt64, _ number: UInt64) -> Double {
    var random = SplitMix(seed: seed &+ (number &- 1) &* 0x9E37_79B9_7F4A_7C15)
    return random.unit()
  }
}
