extension Variables {
  /// Reads `NAME.VALUE`; a name may hold dots, a value may not.
  func output(_ written: String, _ allowances: Allowances, in node: YAMLNode) -> Lookup {
    // A name may have variables, as in `${jobs.build[${matrix.os}].path}`.
    guard let text = expand(written, in: node, unknown: .isFault) else { return .fault(nil) }
    let shown = Quoted.text("${jobs.\(text)}")
    guard let dot = text.lastIndex(of: "."), dot > text.startIndex, Self.isName(String(text[text.index(after: dot)...]))
    else {
      return .fault("\(shown) is not understood: write ${jobs.NAME.VALUE}, and VALUE with letters, digits and '_'")
    }
    guard allowances.contains(.outputs), outputs != nil else {
      return .fault(
        "\(shown) is known only once the other job has run: it can stand in run, env, dir, url, headers, file, approve "
          + "and if of a job")
    }
    return .output(OutputUse(job: String(text[..<dot]), value: String(text[text.index(after: dot)...])))
  }

  /// Notes where a reference stands first, and returns its text.
  func note(_ use: OutputUse, written: String, _ count: Int, in node: YAMLNode) -> String {
    let text = use.text
    if outputs?[text] == nil {
      outputs?[text] = OutputUse(job: use.job, value: use.value, node: node, written: written, count: count)
    }
    return text
  }

  func report(_ message: String, of use: OutputUse) {
    report(message, use.written, use.count, in: use.node)
  }
}
