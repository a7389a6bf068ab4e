import Foundation
import Session
import Support
import Testing

@testable import opdash

/// The commands of `opdash each`, with their arguments in them.
struct EachTemplateTests {
  private func script(_ command: String, _ arguments: String..., number: Int = 1) throws -> String {
    try EachTemplate(command).script(for: arguments.map { Array($0.utf8) }, number: number)
  }

  // MARK: Placeholders

  @Test(arguments: [
    ("d/e.tar.gz", "d/e.tar.gz", "d/e.tar", "e.tar.gz", "d", "e.tar"),
    (".bashrc", ".bashrc", ".bashrc", ".bashrc", ".", ".bashrc"),
    ("a.", "a.", "a", "a.", ".", "a"), ("d.e/f", "d.e/f", "d.e/f", "f", "d.e", "f"),
    ("a//b.c", "a//b.c", "a//b", "b.c", "a", "b"), ("d/", "d/", "d/", "d", ".", "d"), ("/", "/", "/", "/", "/", "/"),
    ("/x.y", "/x.y", "/x", "x.y", "/", "x"), ("//", "//", "//", "/", "/", "/"), ("", "", "", "", ".", ""),
  ])
  func aPlaceholderStandsForAPartOfTheArgument(
    _ argument: String, _ whole: String, _ bare: String, _ base: String, _ folder: String, _ bareBase: String
  ) {
    func value(_ form: EachTemplate.Form) -> String {
      String(decoding: form.value(of: Array(argument.utf8)), as: UTF8.self)
    }
    #expect(value(.whole) == whole)
    #expect(value(.withoutExtension) == bare)
    #expect(value(.baseName) == base)
    #expect(value(.folder) == folder)
    #expect(value(.bareName) == bareBase)
  }

  @Test func textThatIsNoPlaceholderStaysAsItIs() throws {
    for text in ["{a,b} {", "} {{", "$x $# $$", "a{ }b"] {
      #expect(try script(text + "\necho {}", "x") == text + "\necho 'x'")
    }
    #expect(try script("{{}}", "x") == "{'x'}")
    #expect(try script("x {a", "x") == "x {a 'x'")
  }

  @Test func aCommandWithoutAPlaceholderGetsTheArgumentsAtItsEnd() throws {
    #expect(try script("gzip -k", "a b") == "gzip -k 'a b'")
    #expect(try script("gzip -k \n", "a") == "gzip -k 'a'")
    #expect(try script("echo {#}", "a", number: 7) == "echo 7")
    #expect(try script("cp", "a", "b c") == "cp 'a' 'b c'")
    #expect(try script("awk '{print $1}'", "a") == "awk '{print $1}' 'a'")
    #expect(try script("wc <", "a") == "wc < 'a'")
  }

  @Test func aPlaceholderOfParallelIsRefusedWhereThereIsNoOther() throws {
    for command in ["echo {1}", "mv {2} /", "echo {%}"] {
      #expect(throws: UsageError.self) { try script(command, "a") }
    }
    #expect(try script("awk '{1}' {}", "a") == "awk '{1}' 'a'")
  }

  @Test(arguments: [
    "echo hi;", "echo hi &", "true &&", "true |", "(", "(true)", "!", "{", "echo \\ ", "echo 'a", "echo \"a",
    "echo a # b",
    "echo $(true)", "cat <<E",
  ])
  func nothingIsAddedWhereItWouldNotBeAnArgument(command: String) {
    #expect(throws: UsageError.self) { try script(command, "touch") }
  }

  @Test func severalArgumentsAreQuotedEach() throws {
    #expect(try script("x {} -- {/.}", "d/a b.c", "e.f") == "x 'd/a b.c' 'e.f' -- 'a b' 'e'")
  }

  @Test func theNumberOfTheJobStandsAnywhere() throws {
    #expect(try script("echo $(({#} + 1)) \\{#} # {#}", "x", number: 7) == "echo $((7 + 1)) \\7 # 7")
    #expect(try script("echo ${#} \"$1\"", "x", number: 7) == "set -- 'x'; echo ${#} \"$1\"")
  }

  // MARK: The arguments of the shell

  @Test(arguments: ["$1", "\"$1\"", "${1%.*}", "$@", "\"$*\"", "\"$(basename \"$1\")\"", "`echo \"$2\"`"])
  func aCommandThatNamesItsArgumentsGetsThem(command: String) throws {
    #expect(try script("x " + command, "a b", "c") == "set -- 'a b' 'c'; x " + command)
  }

  @Test(arguments: ["'$1'", "\\$1", "$x1", "$#", "$0", "$$"]) func otherParametersAreNoArguments(text: String) throws {
    #expect(try script("x " + text, "a") == "x \(text) 'a'")
  }

  @Test func aParameterOfAwkInASubstitutionIsNoArgument() {
    #expect(throws: UsageError.self) { try script("echo $(awk '{ print $1 }')", "a") }
  }

  // MARK: Quoting

  /// Texts that a shell would take for something else.
  private static let hostile = [
    "a b", "it's", #"say "hi""#, "$HOME", "$(touch PWN)", "`touch PWN`", #"back\slash\"#, "x\ntouch PWN\n#", "*", "~",
    "",
    "#x", "!x", "a;touch PWN;'", "a;touch PWN;\"", #"\'"#, #"'"'"#, "größe 日本", "\t", "-n", "{}", "$'x'", "%s", "(",
    ")",
    "esac", "if", "a=b", "2", "0", "a[$(touch PWN)]", "${x}", "${PATH}", "$((1+1))", "\\n", "\\", "\\\\", "'", "\"",
    "''",
    "\"\"", "|touch PWN", "&touch PWN", ">PWN", "<PWN", ">>PWN", "$", "$1", "$@", "E", "\\'; touch PWN; '", "/*",
    "[a-z]*",
    "\r", "\u{7F}", "{a,b}", "x y  z", " lead", "trail ", "--", "é", "\u{1F600}", "]]", "]", "}",
  ]

  /// Forms in which an argument is given to printf.
  private static let forms = [
    "{}", "\"{}\"", "'{}'", "''{}\"\"", "\"\"'{}'", "\"$1\"", "\"${1}\"", "\"$@\"", "${1+\"$1\"}",
    "\"$(printf %s {})\"",
    "\"$(printf %s \"{}\")\"", "\"$(printf %s \"$1\")\"", "\"`printf %s {}`\"", "\"`printf %s '{}'`\"",
    "\"`printf %s \"$1\"`\"", "$'{}'", "$\"{}\"", "\"${nope:-{}}\"", "\"${nope:-\"{}\"}\"", "\\{}", "\"\\{}\"",
    "$(({} + 1))", "$[{}]", "${}", "\"${}\"", "$(printf %s {})", "\"$\\\n1\"", "\"$\\\n(printf %s {})\"",
    "\"$\\\n{nope:-{}}\"",
  ]

  /// What may stand around `printf '<%s>' FORM`.
  private static let frames = [
    "@", "true && @", "(@)", "{ @; }", "if true; then @; fi", "x=\"a b\"; @", "x='it'; @", "y=$x z=\"$x\" ; @",
    ": $HOME $# $$; @", ": `true`; @", ": $(true); @", ": $((1 << 2)); @", ": ${x:-y}; @", "# it's\n@", ": a#b; @",
    ": \\\" \\' ; @", ": 'a\"b'\"c'd\"; @", "cat <<E\nE\n@", "case x in x) @;; esac", "for i in 1; do @; done",
    "f() { @; }; f \"$1\"", "@ # it's", ": [[ a; @", ": [a-z]; @", ": \"it's\"; @", "while :; do @; break; done",
    "true\n@\n", "true\\\n; @", "{ :; } >&2; @", ": 2>&1 | cat; @",
  ]

  /// `sh` is one of them, and the other one where it's installed.
  @Test(arguments: ["dash", "bash"])
  func anArgumentIsTakenForWhatItIsOrItsPlaceIsRefused(shell: String) throws {
    guard try ChildProcess.run(["/bin/sh", "-c", "command -v \(shell)"]).ending == .exited(0) else { return }
    let folder = try TemporaryFolder()
    var accepted: [String: Int] = [:]
    for form in Self.forms {
      for frame in Self.frames {
        let command = frame.replacingOccurrences(of: "@", with: "printf '<%s>' \(form)")
        guard let template = try? EachTemplate(command) else { continue }
        accepted[form, default: 0] += 1
        // Each in a subshell, where what it defines stays.
        let file = folder.file("script").path()
        let scripts = Self.hostile.map { "(\n\(template.script(for: [Array($0.utf8)], number: 1))\n)" }
        try scripts.joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
        let result = try ChildProcess.run([
          "/bin/sh", "-c", "cd \(folder.url.path()) && \(shell) -e script 2>&1 </dev/null",
        ])
        #expect(result.output == Self.hostile.map { "<\($0)>" }.joined(), "\(command)")
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path()) == ["script"])
    for form in ["{}", "\"{}\"", "'{}'", "''{}\"\""] { #expect(accepted[form] ?? 0 >= 18, "\(form)") }
    for form in ["\"$1\"", "\"$@\"", "\"$(printf %s \"$1\")\""] {
      #expect(accepted[form] == Self.frames.count, "\(form)")
    }
    #expect(accepted["\\{}"] == nil && accepted["${}"] == nil && accepted["$'{}'"] == nil)
  }

  @Test(arguments: [
    ("echo hi # {}", "#"), ("echo \\{}", "\\"), ("echo $(echo {})", "$("), ("echo \"${nope:-\"{}\"}\"", "${"),
    ("echo \"`echo \"{}\"`\"", "`"), ("echo $'it\\'s {}'", "$'"), ("cat <<END\n{}\nEND", "<<"),
    ("i=$((i+1)); echo {}", "$(("), ("echo $(($(echo {})))", "$(("), ("[[ -n x ]] && echo {}", "[["),
  ])
  func aRefusalSaysWhereAndTheWay(command: String, opening: String) {
    let message =
      "'{}' stands after '\(opening)', where the shell may take a part of an argument for a command: "
      + "write \"$1\" there, which is the argument"
    #expect(throws: UsageError(message)) { try script(command, "x") }
  }

  private func refusal(of command: String) -> String {
    do throws(UsageError) {
      _ = try EachTemplate(command)
      return ""
    } catch {
      return error.message
    }
  }

  /// A shell removes a backslash with the line feed after it before it looks for anything else.
  @Test(arguments: [
    ("cat <\\\n<EOF\n{}\nEOF", "<<"), ("echo \"$\\\n(echo {})\"", "$("), ("echo \"$\\\n\\\n{nope:-\"{}\"}\"", "${"),
    ("(\\\n( {} + 1 ))", "(("), ("[\\\n[ {} -eq 1 ]]", "[["), ("echo a \\\n# {}", "#"),
  ])
  func aContinuedLineIsReadAsOne(command: String, opening: String) {
    #expect(refusal(of: command).contains("'{}' stands after '\(opening)'"))
  }

  @Test func aParameterAcrossAContinuationIsOne() throws {
    #expect(try script("echo \"$\\\n1\"", "a") == "set -- 'a'; echo \"$\\\n1\"")
    #expect(try script("echo a\\\n#b {}", "x") == "echo a\\\n#b 'x'")
  }

  /// Bash expands the word after `>&` twice, and evaluates a subscript as arithmetic: `$1` too.
  @Test(arguments: ["echo >&{}", "echo >& {}", "echo 2>&\"log-{}\"", "cat <&{}", "echo >&"])
  func anArgumentIsNoDuplicatedDescriptor(command: String) {
    #expect(
      refusal(of: command).contains(
        "after '>&', where bash would execute parts of it: write > before it, and 2>&1 behind it"))
  }

  @Test(arguments: [
    "a[{}]=1", "a=([{}]=1)", "a=([ {} ]=1)", "a=( [ {} ]=1 )", "a=(x <(ls) [ {} ]=1)", "a=(['{}']=1)",
    "a[1]=2 b[c[0]+{}]=3", "ls [{}]*", "a[",
  ])
  func anArgumentIsNoSubscript(command: String) {
    #expect(
      refusal(of: command).contains("after '[', where bash would execute parts of it: no argument can stand there"))
  }

  @Test func aWordAfterARedirectionOrATestIsAPlace() throws {
    for command in [
      "echo 2>&1 {}", "echo >&2; echo {}", "echo >&2|cat {}", "[ -e {} ]", "ls [ab]* {}", "echo \"a[{}]\"",
      "a=(x {})", "a=([1]=x); [ -e {} ]", "a=x; [ -e {} ]",
    ] {
      #expect((try? script(command, "x")) != nil, "\(command)")
    }
  }

  // MARK: Evaluated arguments

  /// Commands in which bash executes a part of an argument that stands for `@`.
  private static let evaluated = [
    ("echo $(( @ + 1 ))", "$(("), ("echo \"$(( @ + 1 ))\"", "$(("), ("echo $(\\\n( @ ))", "$(("), ("(( @ ))", "(("),
    ("for ((i=0;i<@;i++)); do break; done", "(("), ("(( (x) + @ ))", "(("), ("true && ((@))", "(("),
    ("echo $[ @ ]", "$["), ("echo $[ x[0] + @ ]", "$["), ("[[ @ -eq 1 ]]", "[["), ("[[ 1 -lt @ ]]", "[["),
    ("if [[ -n x && @ -ge 2 ]]; then :; fi", "[["), ("[[ -v @ ]]", "[["), ("[[ ${x:-@} -eq 1 ]]", "[["),
    ("x=abc; echo ${x:@}", "${"), ("x=abc; echo \"${x:0:@}\"", "${"), ("x=abc; echo ${x: -@}", "${"),
    ("a=(1); echo ${a[@]}", "["), ("a=(1); echo ${a[0]:@}", "${"), ("echo $((${x:-@}))", "$(("),
    ("a[@]=x", "["), ("a[@]+=x", "["), ("a=([@]=1)", "["), ("a=( [ @ ]=1 )", "["), ("a=(['@']=1)", "["),
    ("cat <<E\n$(( @ ))\nE", "$(("), ("echo `echo $(( @ ))`", "$(("), ("echo \"$(echo $(( @ )))\"", "$(("),
    ("cat <<E\nE\n(( @ ))", "(("), ("cat <<-'E F'\nit's $((\n\tE F\n(( @ ))", "(("),
    ("y=$(cat <<\\E >&2\nit's )\nE\n) ; (( @ ))", "(("), ("echo it\\'s # it's\n(( @ ))", "(("),
    ("true # a \\\n(( @ ))", "(("), ("a=(1 # it's\n2); (( @ ))", "(("), ("cat <<E; : <<<x; ((@))\nE", "(("),
    ("echo $'it\\'s' ; (( @ ))", "(("),
  ]

  @Test(arguments: evaluated, ["\"$1\"", "$1", "${1}"])
  func anArgumentOfTheShellIsNotEvaluated(row: (String, String), argument: String) {
    let way = row.1 == "[[" ? "write [ ] instead of [[ ]]" : "no argument can stand there"
    #expect(
      refusal(of: row.0.replacingOccurrences(of: "@", with: argument))
        == "'$1' stands after '\(row.1)', where bash would execute parts of it: \(way)", "\(row.0)")
  }

  @Test(arguments: evaluated.map(\.0) + ["echo hi >&@", "echo hi >& @", "echo $(echo >&@)"])
  func aPlaceholderIsNotEvaluatedEither(command: String) {
    let message = refusal(of: command.replacingOccurrences(of: "@", with: "{}"))
    #expect(message.contains("where bash would execute parts of it") && !message.contains("$1"), "\(command)")
  }

  @Test(arguments: ["\"$1\"", " $1", "\"log-${1%.*}\""]) func anArgumentOfTheShellIsNoDescriptor(argument: String) {
    #expect(
      refusal(of: "echo $(echo hi >&\(argument))")
        == "'$1' stands after '>&', where bash would execute parts of it: write > before it, and 2>&1 behind it")
  }

  @Test(arguments: ["$@", "\"$*\"", "$2", "${@}"]) func aRefusalNamesTheArgument(argument: String) {
    let name = argument.filter { !"\"{}".contains($0) }
    #expect(refusal(of: "(( \(argument) ))").hasPrefix("'\(name)' stands after '(('"))
  }

  /// What the rows of the two tables say is what bash does.
  @Test func bashExecutesPartsOfEvaluatedArguments() throws {
    guard try ChildProcess.run(["/bin/sh", "-c", "command -v bash"]).ending == .exited(0) else { return }
    for command in Self.evaluated.map(\.0) + ["echo hi >&@"] {
      for argument in ["\"$1\"", "$1"] where !command.contains("&@") || argument != "$1" {
        let text = command.replacingOccurrences(of: "@", with: argument)
        #expect(try isExecuted(text), "\(text)")
      }
    }
    for command in Self.unevaluated { #expect(try !isExecuted(command), "\(command)") }
  }

  /// Whether bash executes a part of `$1` in the text.
  private func isExecuted(_ text: String) throws -> Bool {
    let folder = try TemporaryFolder()
    for argument in ["x[$(touch PWN)]", "$(touch PWN)"] {
      let script = "cd \(folder.url.path()) && exec 2>/dev/null </dev/null\n\(text)"
      _ = try ChildProcess.run(["bash", "-c", script, "bash", argument])
    }
    return folder.names().contains("PWN")
  }

  /// Commands in which it executes none.
  private static let unevaluated = [
    "i=$((i+1)); echo \"$1\"", "((i++)); echo \"$1\"", "x=$[1+1] y=\"$1\"", "[[ -n x ]] && echo \"$1\"",
    "[[ 1 -eq 1 ]] && echo \"$1\"", "[[ -f \"$1\" ]]", "[[ $x == \"$1\" ]]", "[[ \"$1\" = a && 2 -eq 1 ]]",
    "[[ a =~ [[:alpha:]] ]] && echo \"$1\"", "echo [[ a; echo \"$1\" -eq", "case $x in [a-z]*) echo \"$1\";; esac",
    "[ -f \"$1\" ]", "[ \"$1\" -eq 1 ]", "echo ${x:-\"$1\"}", "echo ${x#\"$1\"}", "echo ${x/:/\"$1\"}", "echo ${1%.*}",
    "echo \"${1:2}\"", "echo ${x:=\"$1\"}", "echo ${x:?\"$1\"}", "echo ${x:+\"$1\"}", "x=abc; echo ${x:1} \"$1\"",
    "a=(1); echo ${a[0]-$1} \"${a[0]#\"$1\"}\"", "a=([0]=$1 x \"$1\")", "a[1]=$1", "a=(1); [ -f \"$1\" ]",
    "ls [\"$1\"]* [ab]$1 c[$1]", "echo hi >&2; echo \"$1\"", "echo hi >&2 \"$1\"", "echo hi &>\"$1\"",
    "echo $(( $(echo \"$1\" | wc -c) + 1 ))", "(( $(grep -c x <<<\"$1\") > 0 ))", "echo `echo $((1))` \"$1\"",
    "awk '{ if (($1)) print }' \"$1\"", "echo $(awk '{ print a[$1]=$[$1] }' \"$1\")", "echo \"((\" \"$1\"",
    "echo \"it's $(echo \"it's\")\" '(( $1 ))' \"$1\"", "echo \"${x:-it's}\" '(( $1 ))' \"$1\"",
    "# it's ((\necho \"$1\"",
    "cat <<'E' | grep \"$1\"\n$(( $1 )) ${\nE\necho '(( $1 ))'", "cat <<E\nEE $((1))\nE\necho \"$1\"",
    "cat <<E\nit's (( $1 )) a[$1]=\nE\necho '$1' \"$1\"", "cat <<<\"$1\"",
    "echo \\(\\( \"$1\" \\)\\)", "f() { echo $1; }; f $1",
    "echo $'\\'((' \"$1\"", "( (echo $1) ); (echo $1)", "echo \"$((1 << 2))\" \"$1\"",
    "y=$(case $1 in x) echo \"$1\";; *) echo \"($1)\";; esac); echo $1",
  ]

  @Test(arguments: unevaluated) func anArgumentOfTheShellStandsElsewhere(command: String) throws {
    #expect(try script(command, "x") == "set -- 'x'; " + command)
  }

  @Test func bytesThatAreNoTextReachTheCommand() throws {
    let bytes: [UInt8] = Array("caf".utf8) + [0xE9, 0xFF] + Array("'ü".utf8) + [0xC3]
    for command in ["printf %s {}", "printf %s \"{}\"", "printf %s '{}'", "printf %s \"$1\""] {
      let text = try EachTemplate(command).script(for: [bytes], number: 1)
      let result = try ChildProcess.run(["/bin/sh", "-c", "{ \(text); } | od -An -tx1 | tr -d ' \\n'"])
      #expect(result.output == "636166e9ff27c3bcc3", "\(command): \(text)")
    }
  }
}
