import Testing

@testable import Session
@testable import opdash

/// The plans of scenarios.
@Suite @MainActor struct RunPlanTests {
  @Test(arguments: ["collect", "diamond", "flaky-network", "stress"])
  func everyScenarioGivesAGraphInAFolderOfItsOwn(_ name: String) throws {
    let plan = try RunPlan.scenario(name, Environment(variables: ["HOME": "/h"]))
    defer { plan.cleanUp() }
    guard case .graph(let graph) = plan.subject else {
      Issue.record("\(name) has no graph")
      return
    }
    #expect(!graph.jobs.isEmpty)
    #expect(plan.source == name)
  }

  @Test func anUnknownScenarioIsNamedWithTheNearest() {
    #expect(throws: UsageError("there is no scenario 'colect': did you mean 'collect'?")) {
      try RunPlan.scenario("colect", Environment(variables: [:]))
    }
  }
}
