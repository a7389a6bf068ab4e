import JobModel
import Testing

@testable import JobEngine

@Suite struct NodeAllocatorTests {
  private static let nodes = [
    NodeAllocator.Node(name: "n1", cpus: 4, memory: 1000, gpus: 1), NodeAllocator.Node(name: "n2", cpus: 2, gpus: 0),
  ]

  private func need(_ cpus: Int? = nil, memory: Int? = nil, gpus: Int? = nil) -> NodeAllocator.Request {
    NodeAllocator.Request(ClusterRequest(cpus: cpus, memory: memory, gpus: gpus))
  }

  private func held() -> NodeAllocator {
    var room = NodeAllocator()
    room.request()
    room.hold(Self.nodes)
    return room
  }

  @Test func aStepNeedsOneProcessorWhereNothingIsSaid() {
    #expect(need() == need(1, memory: 0, gpus: 0))
  }

  @Test func aStepTakesTheFirstNodeThatHasWhatItNeeds() {
    var room = held()
    #expect(room.take(need(3, memory: 600), for: JobID(0)) == "n1")
    #expect(room.take(need(1, memory: 401), for: JobID(1)) == "n2")
    #expect(room.take(need(1, memory: 400, gpus: 1), for: JobID(2)) == "n1")
    #expect(room.take(need(gpus: 1), for: JobID(3)) == nil)
    #expect(room.take(need(), for: JobID(4)) == "n2")
    #expect(!room.fits(need()))
    room.release(JobID(0))
    #expect(room.fits(need(3, memory: 600)))
    #expect(!room.fits(need(4)))
    #expect(!room.fits(need(3, memory: 601)))
    #expect(!room.fits(need(gpus: 1)))
    room.release(JobID(2))
    #expect(room.fits(need(4, memory: 1000, gpus: 1)))
    room.release(JobID(2))
    #expect(!room.fits(need(5)))
  }

  @Test func onlyNodesThatAreHeldHaveRoom() {
    var room = NodeAllocator()
    #expect(room.stand == .absent)
    #expect(!room.fits(need()))
    room.request()
    #expect(room.stand == .requested)
    room.setInDoubt(true)
    #expect(room.stand == .requested)
    room.reason = "Priority"
    room.hold(Self.nodes)
    #expect(room.stand == .held)
    #expect(room.reason == nil)
    room.setInDoubt(false)
    #expect(room.fits(need()))
    room.setInDoubt(true)
    #expect(room.stand == .inDoubt)
    #expect(!room.fits(need()))
    room.setInDoubt(false)
    #expect(room.stand == .held)
  }

  @Test func theNextAllocationBeginsWithAllOfItsNodes() {
    var room = held()
    #expect(!room.hasServed)
    #expect(room.take(need(4), for: JobID(0)) == "n1")
    #expect(room.hasServed)
    room.end()
    #expect(room.stand == .absent)
    #expect(!room.hasServed)
    #expect(room.take(need(), for: JobID(1)) == nil)
    room.request()
    room.hold(Self.nodes)
    #expect(!room.hasServed)
    // Its step has ended with the allocation before.
    room.release(JobID(0))
    #expect(room.fits(need(4)))
    #expect(!room.fits(need(5)))
  }

  @Test(
    arguments: [
      (4, 1000, 1, nil), (2, 5000, 0, nil),
      (5, 0, 0, "slurm.cpus: 5 is too much: a node of the allocation has at most 4 CPUs"),
      (1, 0, 2, "slurm.gpus: 2 is too much: a node of the allocation has at most 1 GPUs"),
      (3, 1001, 0, "no node of the allocation has the CPUs, the memory and the GPUs together"),
    ] as [(Int, Int, Int, String?)])
  func aStepThatNoNodeCanExecuteHasAFault(cpus: Int, memory: Int, gpus: Int, sentence: String?) {
    let fault = held().fault(need(cpus, memory: memory, gpus: gpus))
    #expect(fault?.cause == sentence.map { _ in .launch })
    let end = sentence?.hasPrefix("slurm") == true ? ": ask for less, or for a larger allocation" : ""
    #expect(fault?.reason == sentence.map { $0 + end })
  }

  @Test func theMemoryOfAllNodesIsALimitWhereItIsSharedOut() {
    let fault = NodeAllocator.fault(need(memory: 1001), in: [Self.nodes[0]])
    #expect(
      fault?.reason == "slurm.memory: 1001 is too much: a node of the allocation has at most 1000 MiB: "
        + "ask for less, or for a larger allocation")
    #expect(NodeAllocator.fault(need(memory: 1000), in: [Self.nodes[0]]) == nil)
  }
}
