// swift-tools-version: 6.2

import PackageDescription

// Programs of other people with a queue of their own, which the tests drive in a terminal: one executable, whose argument says
// which.
let package = Package(
  name: "shapes",
  dependencies: [.package(name: "opdash", path: "../..")],
  targets: [
    .executableTarget(
      name: "shapes", dependencies: [.product(name: "OperationDashboard", package: "opdash")])
  ])
