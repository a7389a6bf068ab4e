import JobModel
import Screen
import Testing

@testable import Dashboard

/// Addresses of jobs as the dashboard shows and copies them.
struct MaskedAddressTests {
  private static let url = "https://t0ken:s3cret@host/sdk.tar?sig=s3cret&part=1"
  private static let shown = "https://***@host/sdk.tar?sig=***&part=1"

  @Test(arguments: [
    JobWork.download(DownloadWork(url: url, file: "/w/sdk.tar", headers: ["Authorization": "s3cret"])),
    .upload(UploadWork(file: "/w/sdk.tar", url: url, headers: ["Cookie": "s3cret"])),
  ])
  func noCredentialOfAURLOrAHeaderIsShownOrCopied(work: JobWork) throws {
    var bench = Bench(RunBuilder([Job(name: "sdk", work: work)]), size: Size(width: 120, height: 40))
    bench.press(.character("y"))
    let text = bench.frame().text
    #expect(text.contains(Self.shown))
    #expect(!text.contains("s3cret") && !text.contains("t0ken"))
    #expect(bench.copies == [Self.shown])
    bench.press(.enter)
    #expect(bench.frame().text.contains(Self.shown))
    #expect(!bench.frame().text.contains("s3cret"))
  }
}
