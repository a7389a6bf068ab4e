/// The values of `${matrix.NAME}` in one instance of a job, nil for one with a fault.
struct MatrixValues {
  var values: [String: String?] = [:]
  /// Whether these are all names of the matrix; false for a faulty matrix.
  var hasAllNames = true
}
