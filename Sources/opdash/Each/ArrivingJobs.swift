/// The jobs of a run that are made of standard input while it goes on.
struct ArrivingJobs {
  var request: EachRequest
  var jobs: EachJobs
}
