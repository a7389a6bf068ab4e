/// The values of `${matrix.NAME}` in one instance of a job, nil for one with a fault.
struct MatrixValues {
  var values: [String: String?] = [:]
  /// Whether there are no names besides these, as in a matrix that could be read.
  var hasAllNames = true
}
