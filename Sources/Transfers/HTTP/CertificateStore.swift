/// The certificates that servers are checked against, where the environment names some: as in the curl tool.
///
/// libcurl itself reads none of these variables.
struct CertificateStore: Equatable {
  /// Nil for the one that libcurl was built with.
  private(set) var file: String?
  private(set) var folder: String?

  init(environment: [String: String]) {
    func path(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    file = path("CURL_CA_BUNDLE")
    guard file == nil else { return }
    folder = path("SSL_CERT_DIR")
    file = path("SSL_CERT_FILE")
  }
}
