import JobModel
import Screen
import Testing

@testable import Dashboard

/// Jobs that are parts of another job: children of a group, attempts of an operation.
@MainActor struct ChildJobRowTests {
  private func job(_ name: String, needs: [Int] = [], parent: Int? = nil, canRetry: Bool = false) -> Job {
    let work = OperationWork(className: "Op", visibility: .whole, canRetry: canRetry)
    return Job(
      name: name, work: .operation(work), needs: needs.map { JobNeed(JobID($0), when: .finished) },
      parent: parent.map { JobID($0) })
  }

  private func model(_ jobs: [Job], panel: Panel = .list, executing: [String] = []) -> Model {
    var builder = RunBuilder(jobs, slots: 3)
    for name in executing { builder.move(name, .executing) }
    var model = Model(run: builder.run, size: Size(width: 120, height: 40))
    model.setPanel(panel)
    FramePreparation.prepare(&model, now: .zero)
    return model
  }

  private func text(_ model: Model) -> String {
    View.frame(model, ScreenTraits(isASCII: true, palette: .none), now: .zero).text
  }

  private var group: [Job] {
    [
      job("get"), job("group", needs: [0]), job("first", parent: 1), job("second", needs: [2], parent: 1),
      job("third", parent: 1), job("report", needs: [1]),
    ]
  }

  @Test func theTreeHasChildrenBelowTheirParentBeforeItsNeeds() {
    let model = model(group, panel: .tree)
    let names = model.tree.rows.map { row in
      String(repeating: ".", count: row.depth) + model.run.jobs[row.job.index].job.name
    }
    #expect(names == ["report", ".group", "..second", "...first", "..third", "..get"])
    #expect(model.tree.rows.allSatisfy { !$0.isRepeat })
    #expect(text(model).contains("|-second"))
  }

  @Test func aParentIsFoldedWithItsChildren() throws {
    var model = model(group, panel: .tree)
    model.tree.toggle(JobID(1))
    FramePreparation.prepare(&model, now: .zero)
    #expect(model.tree.rows.map(\.job.index) == [5, 1])
    // A child that is chosen elsewhere unfolds it.
    model.setPanel(.list)
    model.moveCursor(to: JobID(2))
    model.setPanel(.tree)
    FramePreparation.prepare(&model, now: .zero)
    #expect(model.tree.rows.count == 6)
  }

  @Test func theListNamesTheParentAndHasItsChildrenAfterItByName() {
    var model = model([job("b"), job("z", parent: 0), job("a"), job("y", parent: 0)])
    model.order.setSort(.name, inverted: false)
    FramePreparation.prepare(&model, now: .zero)
    #expect(model.order.rows.map(\.index) == [2, 0, 3, 1])
    #expect(text(model).contains("b > y") && text(model).contains("b > z"))
  }

  @Test func theDescriptionNamesTheParentAndTheParts() {
    var model = model(group)
    model.page = .zoom
    model.moveCursor(to: JobID(1))
    #expect(text(model).contains("Parts 3"))
    model.moveCursor(to: JobID(2))
    #expect(text(model).contains("Part of"))
  }

  @Test func theHeaderCountsNoSlotForAChild() {
    let model = model(group, executing: ["group", "first", "third"])
    #expect(text(model).contains("slots 1/3"))
    #expect(text(model).contains("0 of 6 done"))
  }

  // MARK: Retry

  @Test func whereNothingCanBeRetriedNoScreenNamesIt() {
    var model = model([job("once")])
    #expect(!text(model).contains("retry"))
    #expect(!CommandPalette.matches("", in: model).contains { $0.command.help.contains("retry") })
    model.page = .help
    #expect(!text(model).contains("retry;") && !text(model).contains("retry all"))
  }

  @Test func whereOneJobCanBeRetriedItIsOffered() {
    var builder = RunBuilder([job("once"), job("again", canRetry: true)])
    builder.move("again", .executing)
    builder.move("again", .failed(JobFailure(.error, "no"), allowed: false))
    var model = Model(run: builder.run, size: Size(width: 120, height: 40))
    FramePreparation.prepare(&model, now: .zero)
    model.moveCursor(to: JobID(1))
    #expect(text(model).contains("r retry"))
    #expect(!text(model).contains("skipped"))
    #expect(CommandPalette.matches("retry", in: model).count == 3)
    #expect(
      Update.apply(.input(.key(.character("r"))), to: &model, now: .zero) == [
        .send(.retry([JobID(1)], withDependents: false))
      ])
    model.page = .help
    #expect(text(model).contains("retry;") && text(model).contains("retry all"))
  }
}
