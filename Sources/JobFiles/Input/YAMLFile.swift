/// Reads a file of a log as YAML, also one of JSON with escapes that libyaml doesn't know.
enum YAMLFile {
  /// Nil for a file without a document; throws if the rest can't be read.
  static func read(_ number: Int, _ faults: FaultLog) throws(YAMLParser.Problem) -> YAMLNode? {
    let source = faults.files[number].source
    do throws(YAMLParser.Problem) {
      return try YAMLReader.read(source, faults: faults, file: number)
    } catch {
      guard error.isBadEscape, let joined = JSONEscapes.joined(source.bytes) else { throw error }
      faults.replaceSource(of: number, by: SourceText(checked: joined))
      return try YAMLReader.read(faults.files[number].source, faults: faults, file: number)
    }
  }
}
