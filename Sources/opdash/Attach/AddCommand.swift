import JobFiles
import JobModel
import Remote
import Screen
import Session

/// `opdash add`: adds the jobs of a file to a run that is going on.
@MainActor
struct AddCommand {
  let context: CommandContext
  let invocation: Invocation

  func perform(_ word: String?, _ file: String) throws {
    let program = try GoingOn(context: context, settings: invocation.settings).choose(word)
    guard !program.greeting.isOver else {
      throw UsageError("run \(program.greeting.run) has ended: opdash run starts another")
    }
    var text = try JobFile.text(path: file, currentDirectory: context.environment.currentDirectory)
    guard text.bytes.count <= AddedText.limit else {
      throw UsageError("\(text.file) is larger than \(AddedText.limit >> 20) MiB: add it in parts")
    }
    text.vars = invocation.vars
    let style = AddedText.Style(
      width: context.errors.columns, isASCII: context.environment.traits(invocation.settings).isASCII)
    let added: AddedJobs
    do { added = try program.add(text, style) } catch let refusal as AdditionRefusal {
      throw Faults(lines: refusal.lines)
    }
    for note in added.notes { context.errors.write(line: MessageText.of(note)) }
    context.print([MessageText.of(Self.line(added.names, run: program.greeting.run))])
  }

  static func line(_ names: [String], run: String) -> String {
    "added \(Format.count(names.count, "job")) to \(run): \(names.joined(most: 8))"
  }
}
