import JobModel
import Testing

@Suite struct StatedJobTests {
  @Test func whatOnlyTheSchedulerNeedsIsNotStated() {
    var job = job("a")
    job.condition = JobCondition("os == linux", [[.init("${os}", equals: "linux")]])
    job.outputs = [OutputReference("${jobs.b.id}", job: JobID(1), name: "id")]
    #expect(job.stated.condition == JobCondition("os == linux"))
    #expect(job.stated.outputs.isEmpty)
    #expect(job.stated.name == "a" && job.stated.work == job.work)
  }

  @Test func theTermsOfAClusterAreStatedOnlyForAJobOfTheCluster() throws {
    var work = ShellWork(.script("x"), environment: ["TOKEN": "secret"], cluster: ClusterRequest(cpus: 4))
    let there = Job(name: "a", work: .shell(work)).stated
    #expect(there.cluster == ClusterRequest(cpus: 4))
    work.engine = .local
    #expect(Job(name: "a", work: .shell(work)).stated.work == .shell(ShellWork(.script("x"))))
  }

  @Test func theAddressOfAServiceHasNoCredential() {
    let work = ShellWork(.script("x"), service: Service(probe: .url("http://me:pw@h/up")))
    #expect(Job(name: "a", work: .shell(work)).stated.service?.probe == .url("http://***@h/up"))
    let port = ShellWork(.script("x"), service: Service(probe: .port(host: "h", 80)))
    #expect(Job(name: "a", work: .shell(port)).stated.service?.probe == .port(host: "h", 80))
  }

  @Test func workWithoutSecretsIsStatedAsItIs() {
    let jobs = [
      Job(name: "a", work: .operation(OperationWork(className: "Op", visibility: .whole))),
      Job(name: "b", work: .simulate(SimulatedWork(duration: .seconds(3), steps: 2, failRate: 0.5, seed: 9))),
    ]
    #expect(jobs.map(\.stated) == jobs)
  }
}
