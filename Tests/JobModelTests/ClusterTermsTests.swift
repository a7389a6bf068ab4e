import JobModel
import Testing

@Suite struct ClusterTermsTests {
  private let all = ClusterTerms(
    name: "step", cpus: 8, memory: 16_384, gpus: 1, nodes: 2, time: .seconds(5400), partition: "short", account: "lab",
    qos: "low", constraint: "fast", options: ["--exclusive"])

  private let others = ClusterTerms(
    name: "x", cpus: 9, memory: 9, gpus: 9, nodes: 9, time: .seconds(9), partition: "x", account: "x", qos: "x",
    constraint: "x", options: ["x"])

  @Test func termsAreCompletedAndNeverReplaced() {
    #expect(all.over(others) == all)
    #expect(ClusterTerms().over(all) == all)
    #expect(all.over(ClusterTerms()) == all)
  }

  @Test func eachTermIsCompletedForItself() {
    #expect(
      ClusterTerms(cpus: 1, account: "a").over(all)
        == ClusterTerms(
          name: "step", cpus: 1, memory: 16_384, gpus: 1, nodes: 2, time: .seconds(5400), partition: "short",
          account: "a", qos: "low", constraint: "fast", options: ["--exclusive"]))
  }

  @Test func optionsAreNotMixed() {
    #expect(ClusterTerms(options: ["--nice"]).over(all).options == ["--nice"])
  }
}
