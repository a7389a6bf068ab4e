import Basics
import JobModel

/// Checks of all jobs of a file together.
struct JobChecks {
  let drafts: [JobDraft]
  let faults: FaultLog

  /// Reports cycles, one at each place; true if there are some.
  func cycles(_ needs: [[JobNeed]]) -> Bool {
    let cycles = DependencyOrder(of: needs).cycles
    var places = Set<Place>()
    for cycle in cycles {
      let draft = drafts[cycle[0]]
      let place = draft.place(ofNeed: drafts[cycle[1]].job) ?? draft.place
      // The instances of a job have the same needs.
      guard places.insert(place).inserted else { continue }
      guard cycle[0] != cycle[1] else {
        faults.add(place, "job \(Quoted.text(draft.job.name)) needs itself: delete this need")
        continue
      }
      let path = Quoted.cycle(cycle.map { drafts[$0].job.name })
      faults.add(place, "jobs need each other: \(path): delete one of these needs")
    }
    return !cycles.isEmpty
  }

  /// Reports files of several downloads; `known` has the jobs of the extended run.
  func targets(_ known: KnownJobs?) {
    var writers: [BytePath: Int] = [:]
    for index in drafts.indices {
      guard let place = drafts[index].target, case .download(let work) = drafts[index].work else { continue }
      if let writer = known?.writer(of: work.file) {
        faults.add(
          place,
          "\(Quoted.text(work.file)) is already the file of job \(Quoted.text(writer)) of the run: give it another 'to'"
        )
        continue
      }
      let file = BytePath(work.file)
      guard let first = writers[file] else {
        writers[file] = index
        continue
      }
      guard drafts[index].job.matrix == nil || drafts[index].job.matrix != drafts[first].job.matrix else {
        faults.add(
          place, "\(Quoted.text(work.file)) is the file of several instances: write 'to' with ${matrix.NAME} in it")
        continue
      }
      faults.add(
        place,
        "\(Quoted.text(work.file)) is already the file of job \(Quoted.text(drafts[first].job.name)), "
          + "\(faults.words(drafts[first].target ?? drafts[first].place, from: place)): give one another 'to'")
    }
  }

  /// `pools` has nil for a size with a fault.
  func uses(_ pools: [String: Int?]) {
    for index in drafts.indices {
      for (pool, use) in drafts[index].policy.uses {
        guard let known = pools[pool] else {
          let advice = NearestName.hint(
            for: pool, in: pools.keys.sorted(),
            otherwise: ": declare it under pools, as in 'pools: { \(Quoted.bare(pool)): 1 }'")
          faults.add(use.place, "unknown pool \(Quoted.text(pool))\(advice)")
          continue
        }
        guard let size = known, use.amount > size else { continue }
        faults.add(
          use.place,
          "takes \(use.amount) of pool \(Quoted.text(pool)), which has \(size), so it would never start: "
            + "enlarge the pool or take less")
      }
    }
  }

  /// Reports keys that steps of an allocation can't have, once at each place: many jobs share the defaults.
  func steps() {
    for places in Set(drafts.map(\.policy.resourcePlaces)) { Self.step(places, faults) }
  }

  /// Reports keys that a step of an allocation can't have.
  static func step(_ places: [String: Place], _ faults: FaultLog) {
    for (key, place) in places.sorted(by: { $0.value < $1.value }) {
      switch key {
      case "cpus", "memory", "gpus", "allocation": continue
      case "nodes": faults.add(place, "a step of the allocation is executed on one of its nodes: delete 'nodes'")
      case "time":
        faults.add(
          place,
          "a step of the allocation has no time limit of its own: write 'timeout: …' for the job, or "
            + "'time' into 'slurm: { allocation: { … } }'")
      default:
        faults.add(
          place, "a step of the allocation can't have '\(key)': write it into 'slurm: { allocation: { … } }'")
      }
    }
  }
}
