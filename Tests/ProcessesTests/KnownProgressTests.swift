import Operations
import Testing

@testable import Processes

/// Progress in the forms of well-known tools, and numbers that are none.
struct KnownProgressTests {
  /// What each piece of output reports: "done/total", "-" for nothing, "?" where it is known no longer.
  private func reports(_ pieces: [String]) -> [String] {
    var splitter = LineSplitter(.standardOutput)
    var known = KnownProgress()
    return pieces.map { piece in
      let output = splitter.feed(Array(piece.utf8))
      let found = known.newest(in: output)
      let unfinished = LineSplitter.Output(lines: [splitter.takeUnfinished()].compactMap(\.self))
      guard let progress = known.newest(in: unfinished) ?? found else { return "-" }
      return progress.total.map { "\(progress.completed)/\($0)" } ?? "?"
    }
  }

  @Test(arguments: [
    "coverage: 83.1% of statements\n", "CPU 5%\n", "05/11 10:00 started\n", "[10/Oct/2000:13:55:36] GET /\n",
    "see docs/1/2 and a/b\n", "1/2 cup of flour\n", "100%\n", "[info] 3 of 4\n", "[ok]\n", "(none)\n", "\n",
  ])
  func aLineThatScrollsByIsNoProgress(line: String) {
    #expect(reports([line, line, line]) == ["-", "-", "-"])
  }

  @Test func linesThatCountAreBelievedOnceTheyGoOn() {
    #expect(reports(["[1/3] a\n", "[2/3] b\n", "[3/3] c\n"]) == ["-", "2/3", "3/3"])
    #expect(reports(["[ 10%] a\n", "[ 20%] b\n"]) == ["-", "20/100"])
    #expect(reports(["(1/3) installing a\n", "(2/3) installing b\n"]) == ["-", "2/3"])
    #expect(reports(["Step 1/4 : FROM a\n", "Step 2/4 : RUN b\n"]) == ["-", "2/4"])
    #expect(reports(["a.py ..   [ 10%]\n", "b.py ..   [ 60%]\n"]) == ["-", "60/100"])
    // Another whole, or the same count: nothing goes on.
    #expect(reports(["[1/3] a\n", "[2/4] b\n", "[2/4] c\n"]) == ["-", "-", "-"])
  }

  @Test func numbersBeyondAnyCountAreNoProgress() {
    let many = "99999999999999999999999999"
    let most = "999999999999999"
    func checked(of count: String) -> [String] {
      reports(["\r100%    8.73MB/s    0:00:00 (xfr#1, to-chk=0/\(count))"])
    }
    #expect(checked(of: many) == ["100/100"])
    #expect(checked(of: most) == ["\(most)/\(most)"])
    #expect(checked(of: "1000000000000000") == ["100/100"])
    #expect(reports(["[1/\(many)] a\n", "[2/\(many)] b\n"]) == ["-", "-"])
    #expect(reports(["\r\(many)%"]) == ["-"])
  }

  @Test func aRedrawnLineIsBelievedAtOnce() {
    #expect(reports(["\r 5%", "\r 6%"]) == ["5/100", "6/100"])
    #expect(reports(["\r 42%|████▏     | 42/100 [00:01<00:02]"]) == ["42/100"])
    #expect(reports(["12% [4 foo 1,234 B/5 MB 20%]"]) == ["12/100"])
    #expect(reports(["\rResolving (12/345)"]) == ["12/345"])
    #expect(reports(["\r120%", "\rv1.5%x", "\r-3%", "\r[5/3]"]) == ["-", "-", "-", "-"])
  }

  @Test func curlWithoutALengthIsNoBar() {
    let row = " 3906k    0     0  4786k      0 --:--:--  0:00:01 --:--:-- 4783k"
    #expect(reports(["\r  0     0    0\(row)", "\r 30 3906k   30\(row)"]) == ["-", "30/100"])
  }

  @Test func theNextPhaseBeginsAnewAndACompleteOneIsWithdrawn() {
    #expect(reports(["\rA 90%", "\rA 100%", "\rB 0%"]) == ["90/100", "100/100", "0/100"])
    #expect(reports(["\rA 100%\n", "linking\n", "more\n", "\rB 3%"]) == ["100/100", "?", "-", "3/100"])
    #expect(reports(["[1/2] a\n", "[2/2] b\n", "linking\n"]) == ["-", "2/2", "?"])
  }

  @Test func aBarThatIsNoLongerDrawnIsWithdrawn() {
    let lines = (0..<16).map { "warning \($0)\n" }.joined()
    #expect(reports(["\r[==>  ] 5/6: a", "\r\u{1B}[K\(lines)", "one more\n"]) == ["5/6", "-", "?"])
    #expect(reports(["[1/9] a\n", "[2/9] b\n", lines, lines, "[3/9] c\n"]) == ["-", "2/9", "-", "-", "3/9"])
  }

  @Test func whatFallsBackAgainAndAgainIsNoProgress() {
    let noise = (0..<10).flatMap { _ in ["\r 80%", "\r 10%"] }
    let reports = reports(noise)
    #expect(reports.contains("?"))
    #expect(reports.suffix(4) == ["-", "-", "-", "-"])
  }

  @Test func theFilesOfRsyncCountMoreThanEachFilesBar() {
    #expect(
      reports([
        "\r 32,768   1%    0.00kB/s    0:00:00  ", "\r 3,000,000 100%    8.73MB/s    0:00:00 (xfr#1, to-chk=3/5)\n",
        "f2.bin\n", "\r 32,768   1%   98.77kB/s    0:00:30  ",
        "\r 3,000 100%    8.73MB/s    0:00:00 (xfr#2, to-chk=2/5)",
      ]) == ["1/100", "2/5", "-", "-", "3/5"])
  }

  @Test func progressMayFallBackSevenTimes() {
    let noise = (0..<10).flatMap { _ in ["\r 80%", "\r 10%"] }
    let falls = (0..<7).flatMap { _ in ["80/100", "10/100"] }
    #expect(reports(noise) == falls + ["80/100", "?", "-", "-", "-", "-"])
  }

  @Test func eightLinesOfAPieceAreLookedAt() {
    let others = String(repeating: "x\n", count: 7)
    #expect(reports(["[1/9] a\n", "[2/9] b\n" + others]) == ["-", "2/9"])
    #expect(reports(["[1/9] a\n", "[2/9] b\n" + others + "x\n"]) == ["-", "-"])
  }

  @Test func linesAfterACompleteBarWithdrawItAlsoInItsPiece() {
    #expect(reports(["\rA 100%\n"]) == ["100/100"])
    #expect(reports(["\rA 100%\nlinking\n"]) == ["?"])
  }

  @Test func aCountThatFallsBackIsBelievedOnceItGoesOn() {
    #expect(reports(["[1/9] a\n", "[5/9] a\n", "[2/9] a\n", "[3/9] a\n"]) == ["-", "5/9", "-", "3/9"])
    // More of a larger whole, and less of a smaller one, are no falls.
    #expect(reports(["[1/12] a\n", "[6/12] b\n", "[7/100] c\n"]) == ["-", "6/12", "7/100"])
    #expect(reports(["[1/12] a\n", "[6/12] b\n", "[5/6] c\n"]) == ["-", "6/12", "5/6"])
    #expect(reports(["[1/12] a\n", "[6/12] b\n", "[5/12] c\n"]) == ["-", "6/12", "-"])
  }

  // MARK: One text

  private func reading(_ text: String, isRedrawn: Bool) -> String? {
    KnownProgress.reading(of: text, isRedrawn: isRedrawn).map { reading in
      #expect(reading.isRedrawn == isRedrawn)
      return "\(reading.done)/\(reading.total)\(reading.isOfFiles ? " files" : "")"
    }
  }

  @Test(arguments: [
    ("[12/345] CC main.o", "12/345"), ("[ 42%] Building", "42/100"), ("[100%] Built", "100/100"),
    ("Step 3/7 : RUN make", "3/7"), (" 50K .......... ..........  4%  226M 0s", "4/100"), ("[5/5] x", "5/5"),
    ("a.py ..   [ 10%]", "10/100"), ("  \u{1B}[32m [1/3] a", "1/3"), ("[\u{1B}[1m1/3] a", "1/3"),
    ("\u{1B}[1;32m\u{1B}[0m(2/3) x", "2/3"),
  ])
  func aFormThatScrollsByIsBelievedEitherWay(text: String, found: String) {
    for isRedrawn in [false, true] { #expect(reading(text, isRedrawn: isRedrawn) == found) }
  }

  @Test(arguments: [
    ("1.2/5.6 MB 3.4 MB/s eta 0:00:02", "21/100"), ("[=====>   ] 12/345: serde", "12/345"), ("83.4%", "83/100"),
    ("99.6%", "99/100"),
    ("100%", "100/100"), ("0%", "0/100"), ("[ok] 1/2", "1/2"), ("[1/0] x 50%", "50/100"),
    ("3,000 100%    8.73MB/s    0:00:00 (xfr#1, to-chk=3/5)", "2/5 files"),
    ("3 100%  1MB/s 0:00:00 (xfr#1, ir-chk=5/5)", "0/5 files"),
    ("3 100%  1MB/s 0:00:00 (xfr#1, ir-chk=6/5)", "100/100"),
    ("3 100%  1MB/s 0:00:00 (xfr#1, to-chk=0/0)", "100/100"),
  ])
  func aFormThatIsDrawnAgainIsNotBelievedOtherwise(text: String, found: String) {
    #expect(reading(text, isRedrawn: true) == found)
    #expect(reading(text, isRedrawn: false) == nil)
  }

  @Test(arguments: ["[6/5] x", "[0/0] x", "120%", "1000%", "[101%] x", "Step 8/7 : x", "5.5/5.4 MB x", "(x 3/4)"])
  func whatIsMoreThanTheWholeIsNoReading(text: String) {
    for isRedrawn in [false, true] { #expect(reading(text, isRedrawn: isRedrawn) == nil) }
  }

  @Test func onlyTheBeginningOfALongTextIsRead() {
    func text(_ width: Int) -> String { String(repeating: "x", count: width - 3) + " 5%" }
    #expect(reading(text(ProgressPattern.width), isRedrawn: true) == "5/100")
    #expect(reading(text(ProgressPattern.width + 1), isRedrawn: true) == nil)
  }
}
