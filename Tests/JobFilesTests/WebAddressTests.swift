import Testing

@testable import JobFiles

/// URLs as text.
struct WebAddressTests {
  @Test(arguments: [
    "http://h", "HTTPS://h/x", "http://me:pw@h:80/x", "http://[::1]", "http://[::1]:1/x", "http://h:65535",
    "http://h:/x",
    "http://h?x", "http://h#x", "http://h/a:b@c", "${jobs.a.url}", "http://h:${jobs.a.port}/x",
    "http://${jobs.a.host}/x",
  ])
  func aPlausibleURLHasNoFault(url: String) {
    #expect(WebAddress.fault(in: url) == nil)
  }

  @Test(arguments: ["http://", "http:///x", "http://:80/x", "http://[]/x", "http://[::1/x", "http://?x", "http://#x"])
  func aURLNamesAHost(url: String) {
    #expect(WebAddress.fault(in: url) == "'\(url)' names no host: write it as in http://example.com/file")
  }

  @Test(arguments: [
    "http://h:0/x", "http://h:65536/x", "http://h:99999999999999999999/x", "http://h:8a/x", "http://[::1]80/x",
    "http://[::1]:0/x",
  ])
  func aPortIsANumberThatThereIs(url: String) {
    #expect(WebAddress.fault(in: url) == "'\(url)' has no valid port: write a number from 1 to 65535")
  }

  @Test(arguments: [
    ("http://h/a.zip", "a.zip"), ("http://h/d/b%2Bc", "b+c"), ("http://h/%c3%A9", "é"), ("http://h/x?y/z", "x"),
    ("http://h/x#y/z", "x"), ("http://h/...", "..."), ("http://h/.a", ".a"),
    // What is no escape stays.
    ("http://h/%zz%2", "%zz%2"), ("http://h/%g2", "%g2"), ("http://h/a%", "a%"),
  ])
  func theLastComponentOfThePathIsTheNameOfTheFile(url: String, name: String) {
    #expect(WebAddress.fileName(of: url) == name)
  }

  @Test(arguments: [
    "http://h", "h/x", "http://h/", "http://h/x/", "http://h/.", "http://h/%2e", "http://h/..", "http://h/%FF",
    "http://h/a%01b", "http://h/a%2Fb", "http://h/..%2F%CC%81x", "http://h/${jobs.a.v}", "http://h?x/y",
  ])
  func whatIsNoNameOfAFileIsNone(url: String) {
    #expect(WebAddress.fileName(of: url) == nil)
  }

  @Test func theNameOfAFileHas255BytesAtMost() {
    let longest = String(repeating: "x", count: 255)
    #expect(WebAddress.fileName(of: "http://h/\(longest)") == longest)
    #expect(WebAddress.fileName(of: "http://h/\(longest)x") == nil)
  }
}
