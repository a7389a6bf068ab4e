import JobModel
import Testing

@testable import Dashboard

@Suite struct JobTreeTests {
  private static func need(_ ids: Int...) -> [JobNeed] { ids.map { JobNeed(JobID($0)) } }

  /// base 0, left 1, right 2, top 3, alone 4.
  private let diamond = RunBuilder([
    .shell("base"), .shell("left", needs: JobTreeTests.need(0)), .shell("right", needs: JobTreeTests.need(0)),
    .shell("top", needs: JobTreeTests.need(1, 2)), .shell("alone"),
  ])

  private func filtered(_ filter: String, _ run: Run) -> FilteredJobs {
    var jobs = FilteredJobs()
    jobs.setFilter(JobFilter(filter))
    jobs.update(run, JobIndex(run))
    return jobs
  }

  private func tree(_ filter: String = "") -> JobTree {
    var tree = JobTree()
    tree.update(diamond.run, filtered(filter, diamond.run))
    return tree
  }

  @Test func aRowKnowsItsParentAndWhetherItIsTheLast() {
    let tree = tree()
    #expect(
      tree.rows == [
        JobTree.Row(job: JobID(3), hasBranches: true),
        JobTree.Row(job: JobID(1), depth: 1, parent: 0, hasBranches: true),
        JobTree.Row(job: JobID(0), depth: 2, parent: 1, isLast: true),
        JobTree.Row(job: JobID(2), depth: 1, parent: 0, isLast: true, hasBranches: true),
        JobTree.Row(job: JobID(0), depth: 2, parent: 3, isLast: true, isRepeat: true),
        JobTree.Row(job: JobID(4), isLast: true),
      ])
    // Two levels of guides, the name, and room for the mark behind it.
    #expect(tree.width == 2 * 2 + 4 + 3)
  }

  @Test func theRowsThatAFilterLeavesHaveNewParentsAndLasts() {
    #expect(
      tree("right").rows == [
        JobTree.Row(job: JobID(3), isLast: true, hasBranches: true),
        JobTree.Row(job: JobID(2), depth: 1, parent: 0, isLast: true, hasBranches: true),
      ])
    #expect(
      tree("left").rows == [
        JobTree.Row(job: JobID(3), isLast: true, hasBranches: true),
        JobTree.Row(job: JobID(1), depth: 1, parent: 0, isLast: true, hasBranches: true),
      ])
    #expect(tree("base").rows.map(\.isLast) == [true, false, true, true, true])
    #expect(tree("base").rows.map(\.parent) == [-1, 0, 1, 0, 3])
    #expect(tree("none").rows.isEmpty && tree("none").width == 0)
  }

  @Test func aJobHasItsFirstRowUntilAnotherIsChosen() {
    var tree = tree()
    #expect(tree.row(of: nil) == nil && tree.row(of: JobID(9)) == nil)
    #expect((0..<5).map { tree.row(of: JobID($0)) } == [2, 1, 3, 0, 5])
    tree.choose(row: 4)
    #expect(tree.row(of: JobID(0)) == 4 && tree.row(of: JobID(2)) == 3)
    tree.choose(row: 6)
    #expect(tree.row(of: JobID(0)) == 2)
  }

  @Test func aJobThatIsFoldedAwayHasNoRowUntilItIsRevealed() {
    var tree = tree()
    for id in [1, 2, 3] { tree.toggle(JobID(id)) }
    tree.update(diamond.run, FilteredJobs())
    #expect(tree.rows.map(\.job.index) == [3, 4])
    #expect(tree.rows[0].hasBranches && tree.row(of: JobID(0)) == nil)
    tree.reveal(JobID(0), diamond.run)
    tree.update(diamond.run, FilteredJobs())
    // The chain of its first dependents is open, the other one is not.
    #expect(tree.folded == [JobID(2)])
    #expect(tree.rows.map(\.job.index) == [3, 1, 0, 2, 4])
    tree.toggle(JobID(2))
    tree.update(diamond.run, FilteredJobs())
    #expect(tree.rows.count == 6)
  }

  @Test(arguments: ["base", "left", "right", "top", "alone", "e", "none"])
  func aFilterFindsJobsUnderAnyFolds(_ filter: String) {
    let admitted = filtered(filter, diamond.run)
    let open = tree(filter)
    for folds in 0..<32 {
      var tree = JobTree()
      for id in diamond.run.ids where folds & 1 << id.index != 0 { tree.toggle(id) }
      tree.update(diamond.run, admitted)
      #expect(tree.rows == open.rows)
      #expect(diamond.run.ids.allSatisfy { !admitted.admits($0) || tree.row(of: $0) != nil })
      #expect(diamond.run.ids.allSatisfy { !tree.isFolded($0) })
    }
  }

  @Test func underAFilterNoBranchIsFolded() {
    var bench = Bench(diamond)
    bench.press(.character("2"), .home, .character("e"))
    #expect(bench.model.rowCount == 2)
    bench.press(.character("/"))
    bench.type("base")
    bench.press(.enter)
    #expect(bench.model.rowCount == 5 && !bench.frame().text.contains(" +"))
    // The cursor begins at a match, and can go to the rows above it.
    #expect(bench.cursor == "base")
    for row in 0..<5 {
      bench.press(row == 0 ? .home : .down)
      #expect(bench.model.cursorRow == row)
    }
    bench.press(.home, .character("e"))
    #expect(bench.model.rowCount == 5 && bench.model.notice?.text == "a filter shows all that it finds")
    bench.press(.down, .left)
    #expect(bench.model.rowCount == 5 && bench.cursor == "top")
    bench.press(.escape)
    #expect(bench.model.rowCount == 2)
  }

  @Test func rowsAreBuiltAnewOnlyWhenSomethingHasChanged() {
    var tree = tree()
    tree.update(diamond.run, filtered("left", diamond.run))
    #expect(tree.rows.count == 6)
    tree.invalidate()
    tree.update(diamond.run, filtered("left", diamond.run))
    #expect(tree.rows.count == 2)
    var later = diamond
    later.state(.jobAdded(JobID(5), .shell("late", needs: Self.need(4))))
    tree.update(later.run, FilteredJobs())
    #expect(tree.rows.map(\.job.index) == [3, 1, 0, 2, 0, 5, 4])
  }

  @Test func aNeedOnTwoConditionsIsOneRow() {
    let needs = [JobNeed(JobID(0), when: .failed), JobNeed(JobID(0), when: .finished), JobNeed(JobID(1))]
    let builder = RunBuilder([.shell("a"), .shell("b"), .shell("c", needs: needs)])
    var tree = JobTree()
    tree.update(builder.run, FilteredJobs())
    #expect(tree.rows.map(\.job.index) == [2, 0, 1])
  }

  @Test func aWideNameTakesItsCells() {
    var tree = JobTree()
    tree.update(RunBuilder([.shell("漢字"), .shell("äöü")]).run, FilteredJobs())
    #expect(tree.width == 4 + 3)
  }

  @Test func deepRowsNeedNoMoreWidth() {
    for (count, width) in [(12, 22 + 3 + 3), (13, 24 + 3 + 3), (14, 24 + 3 + 3), (40, 24 + 3 + 3)] {
      let jobs = (0..<count).map { Job.shell("j\($0 + 10)", needs: $0 == 0 ? [] : Self.need($0 - 1)) }
      var tree = JobTree()
      tree.update(RunBuilder(jobs).run, FilteredJobs())
      #expect(tree.rows.last?.depth == count - 1 && tree.width == width, "\(count)")
    }
  }
}
