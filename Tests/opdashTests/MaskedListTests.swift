import Testing

@testable import opdash

struct MaskedListTests {
  @Test func aFaultOfAURLShowsNoCredential() {
    let entry = DownloadList.Entry(url: "ftp://me:s3cret@h/x?sig=s3cret", place: nil)
    let line = "'ftp://***@h/x?sig=***' is no URL to download: write http://… or https://…"
    #expect(DownloadList.graph([entry], .init(), folder: "/d") == .failure(Faults(lines: [line])))
  }
}
