import Testing

@testable import Slurm

@Suite struct AllocatedNodeTests {
  @Test func theNodesOfAJobAreReadWithWhatItHasOfEach() {
    let answer = """
      JobId=12 JobName=wrap
         NodeList=node[1-3] NumNodes=3 NumCPUs=10
         JOB_GRES=gpu:a100:2
           Nodes=node[1-2] CPU_IDs=0-1,4,6-7 Mem=2048 GRES=gpu:a100:1(IDX:0)
           Nodes=gpu03 CPU_IDs=3 Mem=0 GRES=tmp:4,gpu:2(IDX:0-1)
         MinCPUsNode=2
      """
    #expect(
      AllocatedNode.nodes(in: answer) == [
        AllocatedNode(name: "node1", cpus: 5, memory: 2048, gpus: 1),
        AllocatedNode(name: "node2", cpus: 5, memory: 2048, gpus: 1),
        AllocatedNode(name: "gpu03", cpus: 1, memory: nil, gpus: 2),
      ])
    #expect(AllocatedNode.nodes(in: "JobId=12 JobState=PENDING\n   NodeList=\n") == [])
  }

  @Test func aListIsWrittenOutUpToItsLimit() {
    #expect(AllocatedNode.expanded("node[1-99999999999]").count == AllocatedNode.limit)
    #expect(AllocatedNode.expanded("a[1-60000],b[1-60000]").count == AllocatedNode.limit)
    #expect(AllocatedNode.expanded("r[1-60000]n[1-60000]").count == AllocatedNode.limit)
    #expect(AllocatedNode.expanded("n[1-65536]").last == "n65536")
    #expect(AllocatedNode.expanded("n[3-99999999999999999999]") == ["n3-99999999999999999999"])
    #expect(AllocatedNode.expanded("n[0-\(Int.max)]") == ["n0-\(Int.max)"])
    #expect(AllocatedNode.expanded("n[\(Int.max - 2)-\(Int.max - 1)]").count == 2)
    #expect(AllocatedNode.expanded("n[0-\(Int.max - 1)]").count == AllocatedNode.limit)
    #expect(AllocatedNode.nodes(in: "Nodes=n1 CPU_IDs=0-\(Int.max) Mem=100").count == 1)
    #expect(AllocatedNode.expanded(String(repeating: "[1]", count: 100_000)).count == 1)
    let many = String(repeating: "Nodes=n[1-60000] CPU_IDs=0\n", count: 1000)
    #expect(AllocatedNode.nodes(in: many).count == AllocatedNode.limit)
    // A number has at most 19 digits, as many as the largest one.
    let zeros = String(repeating: "0", count: 18)
    #expect(AllocatedNode.expanded("n[\(zeros)1-2]") == ["n\(zeros)1", "n\(zeros)2"])
    #expect(AllocatedNode.expanded("n[\(zeros)01-2]") == ["n\(zeros)01-2"])
    let node = AllocatedNode.nodes(in: "Nodes=n1 CPU_IDs=0-99999999999 Mem=99999999999999999999 GRES=gpu:9,gpu:9").first
    #expect(node == AllocatedNode(name: "n1", cpus: AllocatedNode.limit, memory: nil, gpus: 18))
    let gpus = AllocatedNode.nodes(in: "Nodes=n1 CPU_IDs=0 GRES=gpu:9223372036854775807,gpu:a:9223372036854775807")
    #expect(gpus.first?.gpus == .max)
  }

  @Test(arguments: [
    ("login", ["login"]), ("a,b", ["a", "b"]), ("n[1-3]", ["n1", "n2", "n3"]),
    ("n[08-10,2],login", ["n08", "n09", "n10", "n2", "login"]), ("r[1-2]n[3,5]", ["r1n3", "r1n5", "r2n3", "r2n5"]),
    ("n[1-2]-ib", ["n1-ib", "n2-ib"]), ("", []),
  ])
  func aListOfNodesIsWrittenOut(list: String, names: [String]) {
    #expect(AllocatedNode.expanded(list) == names)
  }

  @Test func aNodeWithoutMemoryAndGraphicsCardsHasNone() {
    #expect(
      AllocatedNode.nodes(in: "  Nodes=node1 CPU_IDs=0\r\n  Nodes=node2 CPU_IDs=2-4 Mem=1\n  Nodes=node3\n") == [
        AllocatedNode(name: "node1", cpus: 1, memory: nil, gpus: 0),
        AllocatedNode(name: "node2", cpus: 3, memory: 1, gpus: 0),
      ])
  }

  @Test(arguments: [
    ("n[3-3]", ["n3"]), ("n[098-100]", ["n098", "n099", "n100"]), ("n[9-11]", ["n9", "n10", "n11"]),
    ("a,,b,", ["a", "b"]),
  ])
  func aRangeOfNodesHasBothItsEnds(list: String, names: [String]) {
    #expect(AllocatedNode.expanded(list) == names)
  }

  @Test func theNodesOfAJobAreAskedForInDetail() {
    #expect(AllocatedNode.query(SlurmJobID(12)).arguments == ["scontrol", "show", "job", "-d", "12"])
  }
}
