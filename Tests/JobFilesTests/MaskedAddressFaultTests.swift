import JobFiles
import Testing

@Suite(.timeLimit(.minutes(10))) struct MaskedAddressFaultTests {
  @Test(arguments: [
    ("ftp://me:s3cret@h/x", "'ftp://***@h/x' is neither http nor https: opdash transfers over these only"),
    ("http://me:s3c/ret@h/x", "'http://***@h/x' has no valid port: it is a number from 1 to 65535"),
    ("h/x?token=s3cret", "'h/x?token=***' is no URL: write http://… or https://…"),
  ])
  func aFaultOfAURLShowsNoCredential(url: String, message: String) {
    let error = #expect(throws: JobFileFaults.self) {
      try JobFile.decode(
        Array("version: 1\nname: x\njobs: { a: { download: '\(url)' } }\n".utf8), file: "x.yml", directory: "/",
        environment: [:])
    }
    #expect(error?.faults.map(\.message) == ["download: \(message)"])
  }
}
