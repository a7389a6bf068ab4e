import JobModel
import Testing

/// What a job's work may say.
struct WorkReaderTests {
  // MARK: Downloads

  @Test(arguments: [".", "..", "sub/..", "sub/.", "sub/"])
  func aDownloadGoesToAFile(path: String) {
    let fault = "2:43: download.to names a folder: write the path of a file in it"
    let leaves = "2:43: download.to leaves the job file's folder: write an absolute path if that is meant"
    #expect(
      faults(job: "download: { url: 'http://h/x', to: \(path) }") == [path == ".." ? leaves : fault])
  }

  @Test func aDownloadDoesNotLeaveTheFolderByACombiningMark() {
    #expect(
      faults(job: "download: { url: 'http://h/x', to: '../\u{301}x' }") == [
        "2:43: download.to leaves the job file's folder: write an absolute path if that is meant"
      ])
  }

  @Test func anAbsolutePathMayLeaveTheFolder() throws {
    let job = try job("download: { url: http://h/x, to: /tmp/../y }")
    #expect(job.work == .download(DownloadWork(url: "http://h/x", file: "/y")))
  }

  @Test func aDownloadWithoutAURLHasItsFileChecked() {
    #expect(
      faults(job: "download: { to: ../x }") == [
        "2:18: download has no url: add 'url: …'",
        "2:24: download.to leaves the job file's folder: write an absolute path if that is meant",
      ])
  }

  @Test(arguments: [(32, "an MD5"), (40, "a SHA-1"), (96, "a SHA-384"), (128, "a SHA-512")])
  func aDigestOfAnotherKindIsToldByItsLength(length: Int, kind: String) {
    let digest = String(repeating: "a", count: length)
    let shown = length > 60 ? "\(digest.prefix(60))…" : digest
    #expect(
      faults(job: "download: { url: 'http://h/x', sha256: \(digest) }") == [
        "2:47: download.sha256 takes 64 hexadecimal digits; this is '\(shown)', as long as \(kind): "
          + "write the file's SHA-256, as sha256sum prints it"
      ])
  }

  @Test(arguments: [
    (String(repeating: "a", count: 63), "63 characters long: write the file's SHA-256, as sha256sum prints it"),
    (String(repeating: "a", count: 65), "65 characters long: write the file's SHA-256, as sha256sum prints it"),
    (String(repeating: "g", count: 64), "64 characters long: write the file's SHA-256, as sha256sum prints it"),
    (String(repeating: "g", count: 40), "40 characters long: write the file's SHA-256, as sha256sum prints it"),
    ("sha256:" + String(repeating: "a", count: 64), "which has more than the digits: delete the rest"),
    (
      "sha256:" + String(repeating: "a", count: 63),
      "70 characters long: write the file's SHA-256, as sha256sum prints it"
    ),
  ])
  func aTextThatIsNoDigestSaysWhatIsWrong(text: String, end: String) {
    let shown = text.count > 60 ? "\(text.prefix(60))…" : text
    #expect(
      faults(job: "download: { url: 'http://h/x', sha256: \(text) }") == [
        "2:47: download.sha256 takes 64 hexadecimal digits; this is '\(shown)', \(end)"
      ])
  }

  // MARK: Headers

  @Test func aHeaderMayHaveATabAndMarksInItsName() throws {
    let job = try job("download: { url: http://h/x, headers: { X-a_b!1: \"b\\tc\" } }")
    #expect(job.work == .download(DownloadWork(url: "http://h/x", file: "/jobs/x", headers: ["X-a_b!1": "b\tc"])))
  }

  @Test func aHeaderThatIsGivenTwiceIsOneFault() {
    #expect(
      faults(job: "download: { url: 'http://h/x', headers: { A: b, A: c } }") == [
        "2:56: duplicate key 'A', given at line 2, column 50 already: delete one of them"
      ])
  }

  // MARK: Silence

  @Test(arguments: [("2m", Duration.seconds(120)), ("500ms", .milliseconds(500)), ("0s", .zero), ("0", .zero)])
  func aTransferSaysHowLongNoByteMayMove(text: String, stall: Duration) throws {
    let download = try job("download: { url: http://h/x, stall: \(text) }")
    #expect(download.work == .download(DownloadWork(url: "http://h/x", file: "/jobs/x", stall: stall)))
    let upload = try job("upload: { file: x, url: http://h/x, stall: \(text) }")
    #expect(upload.work == .upload(UploadWork(file: "/jobs/x", url: "http://h/x", stall: stall)))
    let short = try job("download: http://h/x\nstall: \(text)")
    #expect(short.work == download.work)
    let head = "defaults: { stall: \(text) }"
    #expect(try job("download: http://h/x", head: head).work == download.work)
    #expect(try job("upload: { file: x, url: http://h/x, stall: \(text) }\nstall: 9s").work == upload.work)
  }

  @Test func aStallTimeIsADurationInATransfer() {
    #expect(
      faults(job: "download: { url: 'http://h/x', stall: never }") == [
        "2:46: 'never' is not a duration: write 500ms, 8s, 10m or 1h30m"
      ])
    #expect(
      faults(job: "run: ls, stall: 2m") == [
        "2:17: 'stall' is for transfers; this is a run: write 'silence'"
      ])
    #expect(faults(job: "simulate: {}, stall: 2m") == ["2:22: 'stall' is for transfers; this is a simulate: delete it"])
  }

  // MARK: Uploads and simulations

  @Test func anUploadWithoutAnythingLacksBoth() {
    #expect(
      faults(job: "upload: {}") == ["2:16: upload has no file: add 'file: …'", "2:16: upload has no url: add 'url: …'"])
    #expect(faults(job: "upload: { ulr: 'http://h/x' }") == ["2:18: unknown key 'ulr': did you mean 'url'?"])
  }

  @Test func aSimulationMaySayTheDefaults() throws {
    let least = try job("simulate: { duration: 0, steps: 1, fail_rate: 0, seed: 0 }")
    #expect(least.work == .simulate(SimulatedWork()))
    let most = try job("simulate: { fail_rate: 1, seed: 18446744073709551615 }")
    #expect(most.work == .simulate(SimulatedWork(failRate: 1, seed: .max)))
  }
}
