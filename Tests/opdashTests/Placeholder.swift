import JobModel
