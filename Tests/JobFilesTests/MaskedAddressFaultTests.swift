import JobFiles
import Testing

struct MaskedAddressFaultTests {
  @Test(arguments: [
    (
      "ftp://me:s3cret@h/x",
      "'ftp://***@h/x' is neither http nor https: write a URL of these, or use a program such as curl in 'run'"
    ),
    ("http://me:s3c/ret@h/x", "'http://***@h/x' has no valid port: write a number from 1 to 65535"),
    ("h/x?token=s3cret", "'h/x?token=***' is no URL: write it with http:// or https:// at its beginning"),
  ])
  func aFaultOfAURLShowsNoCredential(url: String, message: String) {
    let error = #expect(throws: JobFileFaults.self) {
      try JobFile.decode(
        Array("version: 1\nname: x\njobs: { a: { download: '\(url)' } }\n".utf8), file: "x.yml", directory: "/",
        environment: [:])
    }
    #expect(error?.faults.map(\.message) == ["download: \(message)"])
    let lines = error?.faults.flatMap { $0.lines(width: 80) } ?? []
    #expect(lines.count == 3)
    #expect(!lines.joined().contains("s3c") && !lines.joined().contains("ret@"))
  }
}
