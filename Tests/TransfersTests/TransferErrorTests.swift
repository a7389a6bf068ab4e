import CCurl
import Foundation
import Testing

@testable import Transfers

struct TransferErrorTests {
  @Test func theCodesOfLibcurlHaveCodesAndSentences() {
    let refused = ECONNREFUSED
    #expect(TransferError.curl(CURLE_COULDNT_CONNECT) == TransferError(.network, "could not connect"))
    #expect(TransferError.curl(CURLE_COULDNT_CONNECT, text: "no way") == TransferError(.network, "no way"))
    #expect(
      TransferError.curl(CURLE_COULDNT_CONNECT, text: "no way", systemError: refused)
        == TransferError(.network, "connection refused"))
    #expect(TransferError.curl(CURLE_OPERATION_TIMEDOUT).code == .timedOut)
    #expect(TransferError.curl(CURLE_OUT_OF_MEMORY).code == .outOfMemory)
    #expect(TransferError.curl(CURLE_COULDNT_RESOLVE_HOST) == TransferError(.network, "host not found"))
    #expect(TransferError.curl(CURLE_COULDNT_RESOLVE_PROXY) == TransferError(.network, "proxy not found"))
    #expect(TransferError.curl(CURLE_URL_MALFORMAT) == TransferError(.unsupportedURL, "not a valid URL"))
  }

  @Test func aConnectionThatBreaksInTheBodyNeedsNoSentenceOfLibcurl() {
    let error = TransferError.curl(CURLE_RECV_ERROR, text: "Recv failure")
    #expect(error == TransferError(.network, "Recv failure"))
    let later = TransferError.curl(CURLE_RECV_ERROR, text: "Recv failure", afterHeader: true)
    #expect(later == TransferError(.network, "the connection broke"))
    let reset = TransferError.curl(CURLE_SEND_ERROR, systemError: ECONNRESET, afterHeader: true)
    #expect(reset == TransferError(.network, "connection reset by peer"))
  }

  @Test(arguments: [
    (9, "the server's certificate is not valid yet, by the clock of this machine"),
    (10, "the server's certificate has expired"),
    (18, "the server's certificate is self-signed: to trust it, name its file in CURL_CA_BUNDLE"),
    (20, "no trusted authority has signed the server's certificate: to trust one, name its file in CURL_CA_BUNDLE"),
    (0, "no name matches"),
  ])
  func aCertificateFailsForAReason(verdict: Int, message: String) {
    let error = TransferError.curl(CURLE_PEER_FAILED_VERIFICATION, text: "no name matches", certificate: verdict)
    #expect(error == TransferError(.certificate, message))
    #expect(TransferError.curl(CURLE_SSL_CACERT_BADFILE).code == .certificate)
  }

  private static let noTLS = "the server doesn't answer in TLS: write http://, or another port"

  @Test(arguments: [
    ("error:0A00010B:SSL routines::wrong version number", noTLS),
    ("OpenSSL SSL_connect: SSL_ERROR_SYSCALL", "the server closed the connection before TLS was set up"), ("x", "x"),
  ])
  func aConnectionWithoutTLSIsAFaultOfTheNetwork(text: String, message: String) {
    #expect(TransferError.curl(CURLE_SSL_CONNECT_ERROR, text: text) == TransferError(.network, message))
  }

  @Test func whatIsNotHTTPIsToldByItsSentence() {
    let error = TransferError.curl(CURLE_UNSUPPORTED_PROTOCOL, text: "Received HTTP/0.9 when not allowed")
    #expect(error == TransferError(.network, "the reply is not HTTP"))
    let other = TransferError.curl(CURLE_UNSUPPORTED_PROTOCOL, text: "Protocol not supported")
    #expect(other == TransferError(.network, "Protocol not supported"))
  }

  @Test func onlyAPathOfMoreThan500CharactersIsShortened() {
    let path = String(repeating: "a", count: 250) + String(repeating: "b", count: 250)
    #expect(TransferError.file(path, error: ENOENT) == TransferError(.file, "No such file or directory: \(path)"))
    let shown = String(repeating: "a", count: 250) + "…" + String(repeating: "b", count: 249)
    let long = String(repeating: "a", count: 251) + String(repeating: "b", count: 250)
    #expect(TransferError.file(long, error: ENOENT) == TransferError(.file, "No such file or directory: \(shown)"))
  }

  @Test func ofALengthThatIsNoneSixtyCharactersAreShown() throws {
    var reply = try #require(Reply(statusLine: "HTTP/1.1 200 OK"))
    reply.add(line: "Content-Length: " + String(repeating: "1", count: 61))
    let error = TransferError.invalidLength(of: reply)
    #expect(error.message == "the server's Content-Length is not a length: " + String(repeating: "1", count: 60))
  }
}
