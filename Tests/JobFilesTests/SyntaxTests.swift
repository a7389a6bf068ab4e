import Foundation
import JobFiles
import Testing

@Suite struct SyntaxTests {
  @Test(arguments: [
    ("jobs:\n\ta: { run: ls }\n", "2:1: a tab can't indent YAML: use blanks"),
    ("name: @x\n", "1:7: no value can begin with '@': put the text in quotes"),
    (
      "jobs:\n  a:\n    run: echo a: b\n",
      "3:16: the text of 'run' holds ': ', which begins a value in YAML: quote the whole text, or use 'run: |'"
    ),
    (
      "name: x\njobs\nslots: 3\n",
      "2:1: a ':' is missing after 'jobs': write 'jobs:', or indent this line if it continues the one above"
    ),
    (
      "jobs: { a: { run: [ls, -l }\n",
      "1:27: '}' does not close the '[' of line 1, column 19: write ']' before it"
    ),
    (
      "jobs: { a: { run: ls ]\n",
      "1:22: ']' does not close the '{' of line 1, column 12: write '}' before it"
    ),
    ("name: \"x\njobs: {}\n", "1:7: this quote is never closed: add the closing quote"),
    ("name: \"a\\qb\"\n", "1:9: unknown escape in double quotes: write \\\\ for a backslash, or use single quotes"),
    (
      "name: \"\\ud83d\"\n",
      "1:10: this escape is not a character: write \\xNN, \\uNNNN or \\UNNNNNNNN with its hexadecimal number"
    ),
    ("name: *.txt\n", "1:7: '*' stands for a named value in YAML: put text that begins with '*' in quotes"),
    (
      "jobs:\n  a:\n    needs:\n     - b\n    - c\n",
      "5:5: this line is indented unlike the lines above it: indent it by 5 blanks, as they are, not by 4"
    ),
    (
      "name: x\n jobs: y\n",
      "2:2: this line continues the value of 'name' above, because it is indented further: indent both lines alike"
    ),
    (
      "a: - b\n",
      "1:4: a list item ('- ') is not expected here: begin the list on a line of its own, or put the text in quotes"
    ),
    (
      "name: |x\n  y\n",
      "1:8: only a line break or a comment may follow '|' or '>': begin the text on the next line, indented"
    ),
    (
      "%FOO 1\n---\na: b\n",
      "1:1: a line that begins with % is a directive, and only '%YAML 1.2' is useful: put other text in quotes"
    ),
    ("name: !http://x\\y\n", "1:7: '!' begins a tag in YAML: put text that begins with '!' in quotes"),
    ("x: { a:, b: c }\n", "1:7: ':' is not expected here: put a blank after it, or the text that holds it in quotes"),
    ("x: { a: [b],\n", "1:4: this '{' is never closed: add '}', or put text that begins with '{' in quotes"),
    ("%YAML 3.0\n---\na: b\n", "1:1: this version of YAML is not known: write %YAML 1.2, or delete the line"),
    (
      "jobs: { a: { run: ls } }\n---\njobs: {}\n",
      "2:1: a second document begins here: a job file holds one, so move it to its own file"
    ),
    ("jobs: *missing\n", "1:7: alias *missing names nothing that came before: mark a value with &missing"),
    ("x-a: &base 1\njobs: *bsae\n", "2:7: alias *bsae names nothing that came before: did you mean 'base'?"),
    ("jobs: &a { b: *a }\n", "1:15: alias *a stands inside the value that it names: write the value out"),
    (
      "jobs: { a: { run: !!binary ls } }\n",
      "1:19: tag 'tag:yaml.org,2002:binary' means nothing here: delete it, or put text that begins with ! in quotes"
    ),
    (
      "jobs: { a: { run: ls, [b]: c } }\n",
      "1:23: a key is a list: write a plain word, or quote the text if the brackets belong to it"
    ),
    ("jobs: { a: { run: ls, <<: 3 } }\n", "1:27: '<<' takes a map or a list of maps; this is '3'"),
    ("", "1:1: the file is empty: write a job, as in 'jobs: { build: { run: make } }'"),
    ("# only a comment\n", "1:1: the file is empty: write a job, as in 'jobs: { build: { run: make } }'"),
    ("- a\n", "1:1: a job file is a map; this is a list: write 'jobs: { build: { run: make } }' or the like"),
    ("{}", "1:1: there are no jobs: add 'jobs:' with one job, as in 'jobs: { build: { run: make } }'"),
    ("jobs:\n", "1:1: jobs is empty: add a job, as in 'jobs: { build: { run: make } }'"),
  ])
  func invalidYAMLIsExplained(text: String, fault: String) {
    #expect(faults(text) == [fault])
  }

  @Test(
    arguments: [
      ([0x61, 0x3A, 0x0A, 0xC3, 0xA9, 0xFF], "2:2: the file is not UTF-8 here (byte 0xFF): save it as UTF-8"),
      ([0x61, 0xC0, 0x80], "1:2: the file is not UTF-8 here (byte 0xC0): save it as UTF-8"),
      ([0x61, 0xED, 0xA0, 0x80], "1:2: the file is not UTF-8 here (byte 0xED): save it as UTF-8"),
      ([0x61, 0xF0, 0x9F], "1:2: the file is not UTF-8 here (byte 0xF0): save it as UTF-8"),
      ([0xFF, 0xFE, 0x61, 0x00], "1:1: the file is UTF-16: save it as UTF-8"),
      ([0x61, 0x00], "1:2: control character U+0000: delete it"),
      ([0x0D, 0x0A, 0x1B], "2:1: control character U+001B: delete it, or write \"\\x1B\" in double quotes"),
    ] as [([UInt8], String)])
  func bytesThatAreNoTextAreRefused(bytes: [UInt8], fault: String) {
    #expect(faults(bytes) == [fault])
  }

  @Test func deepNestingIsRefusedWhereItBecomesTooDeep() {
    #expect(
      faults("x-a: " + String(repeating: "[", count: 100_000)) == [
        "1:69: more than 64 levels deep: a job file needs fewer than 10"
      ])
    let deep = (0..<500).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
    #expect(faults(deep) == ["65:65: more than 64 levels deep: a job file needs fewer than 10"])
    #expect(faults(String(repeating: "- ", count: 50_000)).count == 1)
  }

  @Test func aliasesThatMultiplyAreRefused() {
    var text = "x-0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    for level in 1...40 {
      text += "x-\(level): &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ") + "]\n"
    }
    let found = faults(text + "jobs: { a: { run: *a40 } }")
    #expect(found.count == 1)
    #expect(found.first?.hasSuffix("values: write fewer") == true)
  }

  @Test func mergingAMapIntoManyJobsIsNoBomb() throws {
    var text = "x-base: &base { timeout: 3s, priority: low, env: { A: b, C: d } }\njobs:\n"
    for number in 0..<10_000 { text += "  j\(number): { <<: *base, run: ls }\n" }
    #expect(try graph(text).jobs.filter { $0.priority == .low }.count == 10_000)
  }

  @Test func aFileLargerThanTheLimitIsRefused() {
    let bytes = [UInt8](repeating: UInt8(ascii: "#"), count: 64 << 20 | 1)
    #expect(faults(bytes) == ["1:1: the file is larger than 64 MiB: split it into several job files"])
  }

  @Test func manyFaultsOfSeveralKindsAreReportedUpToTheLimit() {
    var text = "jobs:\n"
    for number in 0..<5000 {
      text += "  j\(number): { run: ls, needs: [k\(number)x], \"${x}\": \"${y}\", dir: \"${z\(number)}\" }\n"
    }
    let found = faults(text)
    #expect(found.count == 101)
    #expect(found.last?.hasSuffix(": and more: only 100 faults are reported") == true)
  }
}
