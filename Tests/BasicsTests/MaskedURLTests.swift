import Basics
import Testing

struct MaskedURLTests {
  @Test(arguments: [
    ("https://me:pw@host/f", "https://***@host/f"), ("https://ghp_TOKEN@host:8443/f", "https://***@host:8443/f"),
    ("http://a:b@c:d@host", "http://***@host"), ("//me@host/x", "//***@host/x"),
    ("https://:pw@[::1]:80/", "https://***@[::1]:80/"),
  ])
  func theNameAndThePasswordBeforeTheHostAreMasked(url: String, shown: String) { #expect(url.maskedURL == shown) }

  @Test(arguments: [
    "token", "access_token", "private-token", "key", "api_key", "apikey", "apiKey", "AWSAccessKeyId", "account.key",
    "sig", "s%69g", "signature", "Signature", "password", "passwd", "pwd", "pass", "secret", "client_secret", "auth",
    "Authorization", "jwt", "session_id", "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Date", "x-goog-signature",
    "code",
  ])
  func theValueOfAParameterThatNamesACredentialIsMasked(name: String) {
    #expect("http://h/f?a=1&\(name)=abc%2Fd=&b=2#c".maskedURL == "http://h/f?a=1&\(name)=***&b=2#c")
    #expect("/f?\(name)=abc;b=2".maskedURL == "/f?\(name)=***;b=2")
    #expect("http://h/f#\(name)=abc".maskedURL == "http://h/f#\(name)=***")
  }

  @Test(arguments: [
    "http://host/f", "http://h/@scope/pkg", "https://h:443/a?size=10&seed=1&rate=5#part", "http://[::1]:8080/x?q=a@b",
    "http://h/?author=me&keyword=x&design=1&signed=1&monkeys=2", "", "no URL at all",
    "http://h/f?token", "https://h:/x@y", "a?b=//c@d",
  ])
  func textWithoutCredentialsStaysAsItIs(url: String) { #expect(url.maskedURL == url) }

  @Test(arguments: [
    ("http://me:p/w@host/f", "http://***@host/f"), ("http://me:p#w@host/f", "http://***@host/f"),
    ("http://me:p?w@host/", "http://***@host/"), ("http:// me:pw@host", "http://***@host"),
    ("Unsupported proxy scheme for 'x://me:pw@host:1'", "Unsupported proxy scheme for 'x://***@host:1'"),
  ])
  func credentialsAreMaskedInTextThatIsNoValidURL(url: String, shown: String) { #expect(url.maskedURL == shown) }

  /// Of a mark with a combining one, Swift makes a Character of its own; a server sees the mark.
  @Test(arguments: [
    ("http://h/f?\u{301}&token=abc", "http://h/f?\u{301}&token=***"),
    ("http://h/f?a=1&\u{301}b=2#\u{301}key=abc", "http://h/f?a=1&\u{301}b=2#\u{301}key=***"),
    ("http://me:pw@\u{301}host/f", "http://***@\u{301}host/f"),
    ("http://me:pw/\u{301}x@host/f", "http://***@host/f"),
    ("http://h/f?token=\u{301}abc", "http://h/f?token=***"),
  ])
  func aCombiningMarkHidesNoCredential(url: String, shown: String) { #expect(url.maskedURL == shown) }

  @Test(arguments: [
    "X-Oss-Date", "x-cos-date", "X-MS-Date", "passphrase", "user-credential", "bearer", "pw", "hmac", "otp", "SID",
    "ticket", "sas", "p.code", "db_pwd", "pass%77ord",
  ])
  func eachNameOfACredentialIsKnown(name: String) {
    #expect("http://h/?\(name)=abc".maskedURL == "http://h/?\(name)=***")
  }

  @Test(arguments: [
    "me@host/f", "me:pw@host", "https://h:443/x@y", "https://h:443?q=x@y", "https://h/?x-am=1&ax-ms-=2&codec=3&side=4",
    "https://h/?a=b?c=d#e=f",
  ])
  func otherTextWithoutCredentialsStaysToo(url: String) { #expect(url.maskedURL == url) }
}
