import Foundation

/// The environment variables of this process.
package enum ProcessVariables {
  /// A copy of them, made at each call: a program may change them.
  package static var current: [String: String] { ProcessInfo.processInfo.environment }
}
