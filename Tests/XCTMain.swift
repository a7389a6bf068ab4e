import Testing

/// Executes the tests.
///
/// By its name SwiftPM takes it in place of one that it would make from an index of the tests of XCTest: there are none, and the
/// index would be a quarter of the compilation.
@main enum TestMain {
  static func main() async {
    // `swift test` asks for the tests of XCTest first.
    guard CommandLine.arguments.contains("swift-testing") else { return }
    await Testing.__swiftPMEntryPoint() as Never
  }
}
