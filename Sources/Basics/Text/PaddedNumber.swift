extension String {
  /// A number with zeros in front if it has fewer than `digits` digits.
  package init(_ number: some BinaryInteger, radix: Int = 10, uppercase: Bool = false, digits: Int) {
    let text = String(number, radix: radix, uppercase: uppercase)
    self = String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
  }
}
