import JobFiles
import JobModel
import Testing

@Suite struct JobConditionTests {
  private typealias Term = JobCondition.Term

  private let head = "vars: { ver: '4', tricky: \"a == b || 'c'\" }"

  private func condition(_ text: String) throws -> JobCondition? {
    try job("run: ls\nif: " + text, head: head).condition
  }

  /// Written in YAML, and the terms: `a=b` for a comparison, `!` before a negated one, `;` between alternatives.
  @Test(arguments: [
    ("${env.CI}", "true"), ("'!${env.CI}'", "!true"), ("${env.CI} == true", "true=true"), ("${ver} != 4", "!4=4"),
    ("\"'${ver}' == '4 '\"", "4=4 "), ("${ver}==4", "4=4"), ("v${ver}.x == \"v4.x\"", "v4.x=v4.x"),
    ("${env.CI} && ${ver} == 4 || a != 'b c'", "true 4=4;!a=b c"), ("${env.NONE_SUCH} == ''", "="),
    ("${env.NONE_SUCH:-a b} == 'a b'", "a b=a b"), ("${tricky} == x", "a == b || 'c'=x"), ("true", "true"),
    ("false", "false"), ("'\"(a && b)\" == ${ver}'", "(a && b)=4"), (">\n  ${ver}\n  == 4", "4=4"),
    ("$${ver} == x", "${ver}=x"), ("é == ${ver}", "é=4"), ("-x/y.z != ${ver}", "!-x/y.z=4"),
    // In quotes a name is a text like any other.
    ("\"'env.CI' == ${ver}\"", "env.CI=4"), ("\"'not' != ${ver}\"", "!not=4"), ("\"!'' && ${ver}\"", "! 4"),
  ])
  func anIfComparesTexts(written: String, terms: String) throws {
    let found = try #require(try condition(written))
    let shown = found.alternatives.map { terms in
      terms.map { ($0.isNegated ? "!" : "") + $0.left + ($0.right.map { "=" + $0 } ?? "") }.joined(separator: " ")
    }.joined(separator: ";")
    #expect(shown == terms)
  }

  @Test func theTextOfTheConditionIsThatOfTheFile() throws {
    #expect(
      try condition("\"${env.CI} != ${ver}\"")
        == JobCondition("${env.CI} != ${ver}", [[Term("true", equals: "4", isNegated: true)]]))
  }

  @Test(arguments: [
    ("''", "4:9: if takes a condition as text, as in if: \"${env.CI} == 'true'\"; this is empty"),
    ("", "4:8: if takes a condition as text, as in if: \"${env.CI} == 'true'\"; this is empty"),
    ("[a]", "4:9: if takes a condition as text, as in if: \"${env.CI} == 'true'\"; this is a list"),
    ("${env.CI} = true", "4:19: '=' compares nothing: write '==', or put the text in quotes"),
    ("${env.CI} === true", "4:19: '===' has one '=' too many: delete it"),
    ("${env.CI} & true", "4:19: '&' is not an operator: write '&&', or put the text in quotes"),
    ("${env.CI} | true", "4:19: '|' is not an operator: write '||', or put the text in quotes"),
    ("${env.CI} > 3", "4:19: '>' is not an operator: texts are compared with == and != only; put the text in quotes"),
    ("${env.CI} and ${ver}", "4:19: 'and' is not an operator: write &&"),
    ("${env.CI} OR ${ver}", "4:19: 'OR' is not an operator: write ||"),
    ("not ${ver}", "4:9: 'not' is not an operator: write !"),
    ("${ver} is 4", "4:16: 'is' is not an operator: write =="),
    (
      "${ver} == hello world",
      "4:25: 'world' follows another text: put text with blanks in quotes, or write ==, !=, && or || between"
    ),
    ("${ver} ==", "4:16: nothing stands after '==': write a text there, '' for an empty one"),
    ("${ver} &&", "4:16: nothing stands after '&&': write a text there, '' for an empty one"),
    ("== ${ver}", "4:9: if begins with an operator: write a text before it"),
    ("'!'", "4:10: nothing stands after '!': write a text there, '' for an empty one"),
    ("'!!${ver}'", "4:10: '!!' changes nothing: delete both"),
    ("'!${ver} == 4'", "4:10: '!' stands before a comparison: delete it, and write '!=' for '=='"),
    ("${ver} ! ${ver}", "4:16: '!' stands after a text: write '!=' to compare, or && before it"),
    ("${ver} == 4 == 4", "4:16: '==' is the second comparison of its texts: write && between two comparisons"),
    ("${ver} == 'a", "4:19: this ' is never closed: write another ' where the text ends"),
    ("${ver} == 'a'b", "4:20: text continues after 'a': put the whole text in quotes"),
    ("${ver} == it's", "4:21: ' stands inside a text: put the whole text in quotes"),
    (
      "(${ver} == 4)",
      "4:9: if has no brackets: && binds closer than ||, so write 'a && b || a && c' for 'a && (b || c)'"
    ),
    (
      "success()",
      "4:9: 'success()' is a function of GitHub Actions: delete it: a job starts when its needs are met"
    ),
    (
      "failure()",
      "4:9: 'failure()' is a function of GitHub Actions: write the need as '{ NAME: failed }', or the job below "
        + "'finally:' with 'when: failed'"
    ),
    (
      "always()",
      "4:9: 'always()' is a function of GitHub Actions: write the need as '{ NAME: finished }', or the job below 'finally:'"
    ),
    ("cancelled()", "4:9: 'cancelled()' is a function of GitHub Actions: write the need as '{ NAME: not-ok }'"),
    ("contains(a, b)", "4:9: 'contains(…)' is a function, and if has none: compare texts with == and !="),
    (
      "${{ env.CI == 'true' }}",
      "4:9: '${{ … }}' is a form of GitHub Actions: write ${NAME}, or ${env.NAME}"
    ),
    ("env.CI == 'true'", "4:9: 'env.CI' is plain text: write '${env.CI}'"),
    ("${ver} == vars.ver", "4:19: 'vars.ver' is plain text: write '${ver}'"),
    ("${vre} == 4", "4:9: unknown variable '${vre}': did you mean 'ver'?"),
    ("${ver == 4", "4:9: '${' has no closing '}': add it, or write '$${' for a plain '${'"),
    (
      "${matrix.os}",
      "4:9: '${matrix.os}' is known only beside a matrix: give the job 'matrix: { os: [ … ] }', or write the value"
    ),
  ])
  func anIfThatSaysNothingClearIsRefused(written: String, fault: String) {
    #expect(faults("\(head)\njobs:\n  a:\n    if: \(written)\n    run: ls\n") == [fault])
  }

  @Test(arguments: [
    (
      "linux", "always holds, because it has no '${…}': compare a variable, as in \"${env.CI} == 'true'\", or delete it"
    ),
    ("ver == 5", "never holds, because it has no '${…}': write '${ver}'"),
    (
      "\"'ver' == 5\"",
      "never holds, because it has no '${…}': compare a variable, as in \"${env.CI} == 'true'\", or delete it"
    ),
    ("'!CI'", "never holds, because it has no '${…}': write '${env.CI}'"),
  ])
  func aConditionWithoutVariablesIsAWarning(written: String, message: String) throws {
    let text = "\(head)\njobs:\n  a:\n    if: \(written)\n    run: ls\n"
    var warnings: [String] = []
    _ = try JobFile.decode(Array(text.utf8), file: "ci.yml", directory: "/jobs", environment: environment) {
      warnings.append($0.description)
    }
    #expect(warnings == ["ci.yml:4:9: warning: if \(message)"])
  }

  @Test func defaultsHaveNoCondition() {
    #expect(
      faults("defaults: { if: x, matrix: { a: b } }\njobs: { a: { run: ls } }") == [
        "1:13: unknown key 'if': each job has its own: write it into the jobs",
        "1:20: unknown key 'matrix': each job has its own: write it into the jobs",
      ])
  }
}
