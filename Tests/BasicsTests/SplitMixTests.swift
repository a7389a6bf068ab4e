import Basics
import Testing

struct SplitMixTests {
  /// The published numbers of the generator for this seed.
  @Test func theNumbersAreThoseOfTheGenerator() {
    var random = SplitMix(seed: 1_234_567)
    let numbers = (0..<5).map { _ in random.next() }
    #expect(
      numbers == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423, 4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
      ])
  }

  @Test func aUnitIsTheFractionThatANumberIsOfAll() {
    var random = SplitMix(seed: 1_234_567)
    let units = (0..<3).map { _ in random.unit() }
    #expect(units == [0.3500795420214081, 0.17364409667091263, 0.5322073040624192])
  }

  @Test func unitsAreEvenlySpread() {
    var random = SplitMix(seed: 987_654_321)
    var counts = [0, 0, 0, 0, 0]
    for _ in 0..<100_000 { counts[Int(random.unit() * 5)] += 1 }
    #expect(counts == [20027, 19892, 20073, 19978, 20030])
  }
}
