import Foundation

/// Executes a pure part of opdash so many times on the same input, for its instructions to be counted: PART TIMES.
let words = Array(CommandLine.arguments.dropFirst())
guard words.count == 2, let part = parts[words[0]], let times = Int(words[1]) else {
  FileHandle.standardError.write(
    Data("core-benchmarks: PART TIMES; the parts: \(parts.keys.sorted().joined(separator: " "))\n".utf8))
  exit(2)
}
let execute = part()
for _ in 0..<times { execute() }
