import Foundation
import Testing

@testable import Transfers

@Suite struct RouteTests {
  private func route(_ url: String, headers: [String: String] = [:]) throws -> Route {
    try Route(to: WireURL(url), headers: headers, reserved: ["range"])
  }

  @Test(arguments: ["ftp://h/x", "file:///etc/passwd", "javascript:alert(1)", "http://"])
  func aRedirectToAnythingElseIsNotFollowed(location: String) throws {
    var route = try route("http://h/")
    #expect { _ = try route.follow(location) } throws: { ($0 as? TransferError)?.code == .unsupportedURL }
    #expect(route.url.text == "http://h/")
  }

  @Test func theEleventhRedirectIsOneTooMany() throws {
    var route = try route("http://h/")
    for number in 1...10 { _ = try route.follow("/\(number)") }
    #expect(throws: TransferError(.tooManyRedirects, "more than 10 redirects")) { _ = try route.follow("/11") }
  }

  @Test(arguments: ["http://g/", "https://h/", "http://h:8080/", "http://h.evil/"])
  func secretHeadersAreNotSentToAnotherOrigin(location: String) throws {
    let headers = ["Authorization": "Bearer x", "Cookie": "c", "X-Api-Key": "k", "Accept": "*/*"]
    var route = try route("http://h/", headers: headers)
    let note = try route.follow(location)
    #expect(route.headers.map(\.name) == ["Accept"])
    #expect(note == "redirected to \(location), without Authorization, Cookie, X-Api-Key")
    _ = try route.follow("http://h/")
    #expect(route.headers.map(\.name) == ["Accept"])
  }

  @Test func anotherSchemeOnTheSamePortIsAnotherOrigin() throws {
    var route = try route("https://h:8443/", headers: ["Authorization": "Bearer x"])
    #expect(try route.follow("http://h:8443/") == "redirected to http://h:8443/, without Authorization")
  }

  @Test func aNoteOfARedirectShowsNoCredentials() throws {
    var route = try route("http://h/")
    let note = try route.follow("https://me:pw@g/f?X-Amz-Signature=s&part=1")
    #expect(note == "redirected to https://***@g/f?X-Amz-Signature=***&part=1")
    #expect(route.url.text == "https://me:pw@g/f?X-Amz-Signature=s&part=1")
  }

  @Test(arguments: ["/x", "http://H:80/x"])
  func allHeadersStayWithTheOrigin(location: String) throws {
    var route = try route("http://h/", headers: ["Authorization": "Bearer x"])
    #expect(try route.follow(location) == "redirected to \(route.url.text)")
    #expect(route.headers.map(\.name) == ["Authorization"])
  }

  @Test func theUsualPortWrittenOutIsTheSameOrigin() throws {
    var route = try route("https://h/", headers: ["Authorization": "Bearer x"])
    _ = try route.follow("https://h:443/x")
    #expect(route.headers.map(\.name) == ["Authorization"])
    _ = try route.follow("https://h:80/x")
    #expect(route.headers.isEmpty)
  }

  @Test(arguments: [
    ["A": "b\r\nEvil: yes"], ["A\n": "b"], ["": "b"], ["A:": "b"], ["Range": "bytes=1-"], ["A": "b\0"], ["Ä": "b"],
  ])
  func aHeaderThatWouldBreakTheRequestIsAnError(headers: [String: String]) {
    #expect { _ = try route("http://h/", headers: headers) } throws: { ($0 as? TransferError)?.code == .invalidHeader }
  }
}
