import JobModel
import Testing

@testable import Reports

@Suite struct GraphLayoutTests {
  /// The layout of jobs that need these, with a critical path.
  private func layout(_ needs: [[Int]], names: [String]? = nil, keeping chain: [Int] = []) -> GraphLayout {
    var facts = Facts()
    facts.begin(
      needs.enumerated().map { index, needs in
        Job(
          name: names?[index] ?? "j\(index)", work: .simulate(SimulatedWork()),
          needs: needs.map { JobNeed(JobID($0)) })
      })
    return GraphLayout(facts.run, keeping: chain.map { JobID($0) })
  }

  private func pairs(_ layout: GraphLayout) -> [[Int]] { layout.edges.map { [$0.from, $0.to] } }

  @Test(arguments: [
    ("build[linux]", "build"), ("build (2)", "build "), ("test-12", "test"), ("test_1.2", "test"), ("a1b2", "a1b"),
    ("123", "123"), ("lint", "lint"), ("-", "-"), ("[x]", ""),
  ])
  func aStemIsTheNameWithoutVariantAndNumber(_ name: String, _ stem: String) {
    #expect(GraphLayout.stem(name) == stem)
  }

  @Test func aDiamondIsSymmetric() {
    let layout = layout([[], [0], [0], [1, 2]])
    #expect(layout.nodes.map(\.layer) == [0, 1, 1, 2] && layout.layers == 3)
    #expect(layout.nodes.map(\.y) == [0.5, 0, 1, 0.5] && layout.rows == 2)
    #expect(pairs(layout) == [[0, 1], [0, 2], [1, 3], [2, 3]])
    #expect(!layout.isCollapsed && layout.lone == 0)
  }

  @Test func aLayerIsAfterTheLastOfTheNeeds() {
    let layout = layout([[], [0], [1], [0, 2], []])
    #expect(layout.nodes.map(\.layer) == [0, 1, 2, 3])
    #expect(layout.lone == 1 && layout.nodes.map(\.jobs) == (0..<4).map { [JobID($0)] })
    #expect(layout.nodes.map(\.y) == [0, 0, 0, 0] && layout.rows == 1)
  }

  @Test func aNeedThatFollowsFromOthersIsLeftOutUnlessThePathGoesThere() {
    #expect(pairs(layout([[], [0], [0, 1]])) == [[0, 1], [1, 2]])
    #expect(pairs(layout([[], [0], [0, 1]], keeping: [0, 2])) == [[0, 1], [0, 2], [1, 2]])
    #expect(pairs(layout([[], [0], [1], [0, 1, 2]])) == [[0, 1], [1, 2], [2, 3]])
  }

  @Test func withoutNeedsThereIsNothingToDraw() {
    let layout = layout([[], [], []])
    #expect(layout.nodes.isEmpty && layout.edges.isEmpty && layout.layers == 0 && layout.rows == 0 && layout.lone == 3)
  }

  @Test func nodesOfALayerAreARowApart() {
    let layout = layout([[], [], [], [0, 1, 2], [3], [3]])
    #expect(layout.nodes.map(\.y) == [0, 1, 2, 1, 0.5, 1.5])
  }

  @Test func similarNamesShareANodeUnlessTheseAreTooMany() {
    func nodes(stems: Int) -> Int {
      let names = ["root"] + (0..<310).map { "s\($0 % stems)y-\($0)" }
      return layout([[]] + Array(repeating: [0], count: 310), names: names).nodes.count
    }
    #expect(nodes(stems: 149) == 150)
    // Then all jobs of a layer share one.
    #expect(nodes(stems: 150) == 2)
  }

  @Test func eightyJobsOfALayerHaveANodeEach() {
    func nodes(_ width: Int) -> GraphLayout { layout([[]] + (0..<width).map { _ in [0] }) }
    #expect(nodes(80).nodes.count == 81 && !nodes(80).isCollapsed)
    let collapsed = nodes(81)
    #expect(collapsed.nodes.map(\.jobs.count) == [1, 81] && collapsed.isCollapsed)
    #expect(collapsed.nodes.map(\.stem) == ["j", "j"] && pairs(collapsed) == [[0, 1]])
  }

  @Test func threeHundredJobsHaveANodeEachAndInMoreAFewLayersShareOne() {
    func chain(_ count: Int) -> GraphLayout { layout((0..<count).map { $0 == 0 ? [] : [$0 - 1] }) }
    #expect(chain(300).nodes.count == 300)
    let long = chain(301)
    // Six layers for each of at most sixty nodes.
    #expect(long.nodes.count == 51 && long.nodes.allSatisfy { $0.stem == nil })
    #expect(long.nodes[0].jobs.count == 6 && long.nodes[50].jobs.count == 1)
    #expect(pairs(long) == (0..<50).map { [$0, $0 + 1] })
  }
}
