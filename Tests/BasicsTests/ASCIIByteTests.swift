import Basics
import Testing

@Suite struct ASCIIByteTests {
  @Test(
    arguments: [
      ("A", true), ("_", true), ("a1_Z", true), ("", false), ("1A", false), ("0", false), ("9", false), ("a-b", false),
      ("a b", false), ("ä", false), ("a=", false),
    ] as [(String, Bool)])
  func aNameOfAVariableHasLettersDigitsAndUnderscores(name: String, isOne: Bool) {
    #expect(name.utf8.isVariableName == isOne)
  }
}
