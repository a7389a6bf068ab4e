// swift-tools-version: 6.2

import PackageDescription

let package = Package(
  name: "embed",
  // A package of your own names the place that it has opdash from; here it is two folders up, whatever that is called.
  dependencies: [.package(name: "opdash", path: "../..")],
  targets: [
    .executableTarget(
      name: "embed", dependencies: [.product(name: "OperationDashboard", package: "opdash")]),
    .executableTarget(
      name: "server", dependencies: [.product(name: "OperationDashboard", package: "opdash")]),
  ])
