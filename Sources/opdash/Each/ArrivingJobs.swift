/// The jobs made of standard input during a run.
struct ArrivingJobs {
  var request: EachRequest
  var jobs: EachJobs
}
