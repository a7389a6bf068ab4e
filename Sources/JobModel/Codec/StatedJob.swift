import Basics

extension Job {
  /// The job as a run's events state it: without headers, environment and credentials in URLs, because they are secrets.
  package var stated: Job {
    var job = self
    // A reader sees why the job was skipped; the scheduler has the parts.
    job.condition = condition.map { JobCondition($0.text) }
    job.outputs = []
    switch work {
    case .shell(var shell):
      shell.environment = [:]
      shell.clusterRequest = shell.cluster ?? ClusterRequest()
      if case .url(let url) = shell.service?.probe { shell.service?.probe = .url(url.maskedURL) }
      job.work = .shell(shell)
    case .download(var download):
      download.headers = [:]
      download.url = download.url.maskedURL
      job.work = .download(download)
    case .upload(var upload):
      upload.headers = [:]
      upload.url = upload.url.maskedURL
      job.work = .upload(upload)
    case .simulate, .operation: break
    }
    // Most jobs have nothing of the kind, and share one declaration.
    return job == self ? self : job
  }
}
