// swift-tools-version: 6.2

import PackageDescription

/// Settings of every Swift target: the language mode already makes concurrency checking complete.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny")
]

/// Whether Tests/run builds.
let isGate = Context.environment["OPDASH_GATE"] != nil

/// Settings of the test targets.
///
/// Tests/run builds everything as it is released but the tests and what is only there for them, which are most of the
/// build. A test that fails names its line without debug information, which is a tenth of their compilation.
let testSettings = isGate ? settings + [.unsafeFlags(["-Onone", "-Xfrontend", "-gnone"])] : settings

/// A Swift target of ours with its tests beside it.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
  settings: [SwiftSetting] = testSettings
) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, exclude: exclude, swiftSettings: settings)
}

func system(_ name: String, apt: String) -> Target { .systemLibrary(name: name, providers: [.apt([apt])]) }

let package = Package(
  name: "opdash",
  products: [
    .executable(name: "opdash", targets: ["opdash"]),
    .library(name: "OperationDashboard", targets: ["OperationDashboard"]),
    .library(name: "Operations", targets: ["Operations"]),
    .library(name: "Transfers", targets: ["Transfers"]),
    .library(name: "Processes", targets: ["Processes"]),
  ],
  targets: [
    // The C libraries, as the system has them.
    system("CNcurses", apt: "libncurses-dev"),
    system("CCurl", apt: "libcurl4-openssl-dev"),
    system("CCrypto", apt: "libssl-dev"),
    system("CYAML", apt: "libyaml-dev"),
    system("CSQLite", apt: "libsqlite3-dev"),
    system("CZlib", apt: "zlib1g-dev"),
    system("CMicrohttpd", apt: "libmicrohttpd-dev"),
    .target(name: "CProcess"),
    .target(name: "CTerminal", dependencies: ["CProcess"]),
    // The commit that Demo/install and Demo/run build from.
    .target(
      name: "CVersion",
      cSettings: Context.environment["OPDASH_COMMIT"].map { [.define("OPDASH_COMMIT", to: "\"\($0)\"")] }),

    // What an operation is, and the operations that do real work.
    module("Basics"),
    module("Checksums", ["CCrypto"]),
    module("Operations", ["Basics"]),
    module("Transfers", ["Checksums", "Operations", "CCurl"]),
    module("Processes", ["Operations", "CProcess"]),
    module("Slurm", ["Basics", "Operations", "Processes"]),

    // What a run is, and what makes one happen.
    module("JobModel", ["Basics"]),
    module("JobEngine", ["Basics", "Checksums", "JobModel", "Operations", "Processes", "Transfers"]),
    module("JobCluster", ["Basics", "JobEngine", "JobModel", "Operations", "Processes", "Slurm"]),
    module("JobFiles", ["Basics", "JobModel", "Screen", "CYAML"]),
    module("Remote", ["Basics", "JobModel"]),
    module("Reports", ["Basics", "JobModel", "Screen"]),
    module("RunStore", ["Basics", "Checksums", "JobModel", "CProcess", "CSQLite", "CZlib"]),

    // What a person sees.
    module("Screen", ["Basics"]),
    module("Dashboard", ["Basics", "JobModel", "Screen"]),
    module("NcursesTerminal", ["Basics", "Screen", "CNcurses", "CTerminal"]),

    // One run on what surrounds the program, and a program's own queue as a run.
    module("Session", ["Basics", "CTerminal", "Dashboard", "JobModel", "NcursesTerminal", "Reports", "Screen"]),
    module(
      "OperationDashboard",
      [
        "Basics", "CProcess", "JobEngine", "JobModel", "NcursesTerminal", "Operations", "Processes", "Remote",
        "Reports", "Session", "Transfers",
      ]),

    module("DemoServer", ["CMicrohttpd", "Checksums", "Operations"]),
    .target(
      name: "Scenarios", dependencies: ["JobModel", "OperationDashboard", "Operations", "Transfers"],
      path: "Demo/Scenarios",
      resources: ["collect.yml", "diamond.yml", "flaky-network.yml"].map { .embedInCode($0) }, swiftSettings: settings),
    .executableTarget(
      name: "opdash",
      dependencies: [
        "CVersion", "Checksums", "Dashboard", "DemoServer", "JobCluster", "JobEngine", "JobFiles", "JobModel",
        "Operations", "Processes", "Remote", "Reports", "RunStore", "Scenarios", "Screen", "Session", "Transfers",
      ],
      swiftSettings: settings,
      // An object file of Demo/locales in place of ICU's data, which are half of a program with the Swift runtime in it.
      linkerSettings: Context.environment["OPDASH_LOCALES"].map { [.unsafeFlags([$0])] }),

    .target(
      name: "Support", dependencies: ["Basics", "JobModel", "Operations", "Screen", "Slurm"], path: "Tests/Support",
      swiftSettings: testSettings),
    .executableTarget(
      name: "terminal-probe", dependencies: ["NcursesTerminal", "Screen"], path: "Tests/TerminalProbe",
      swiftSettings: testSettings),
    tests("Basics", ["Support"]),
    tests("Checksums", ["Support"]),
    // The calls that a violation of the UI queue names have the lines of these tests.
    tests("Operations", ["Support"], settings: isGate ? settings + [.unsafeFlags(["-Onone"])] : settings),
    // The code of the articles and the README, and what is said of every public symbol.
    .testTarget(
      name: "DocumentationTests",
      dependencies: ["OperationDashboard", "Operations", "Processes", "Support", "Transfers"],
      swiftSettings: testSettings),
    tests("Transfers", ["CCurl", "Operations", "Support"]),
    tests("Processes", ["CProcess", "Support", "Operations", "ProcessProbe"]),
    tests("Slurm", ["Support", "Operations", "Processes", "slurm-probe"], exclude: ["Probe"]),
    // A program for the cluster tests to kill.
    .executableTarget(
      name: "slurm-probe", dependencies: ["Operations", "Slurm"], path: "Tests/SlurmTests/Probe",
      swiftSettings: testSettings),
    // A program for the process tests to kill.
    .executableTarget(
      name: "ProcessProbe", dependencies: ["Operations", "Processes", "Support"], path: "Tests/ProcessProbe",
      swiftSettings: testSettings),
    // What Tests/Benchmarks/run measures of the library.
    .executableTarget(
      name: "operation-benchmarks", dependencies: ["OperationDashboard", "Operations"],
      path: "Tests/Benchmarks/OperationBenchmarks",
      swiftSettings: testSettings),
    .executableTarget(
      name: "process-benchmarks", dependencies: ["Operations", "Processes"],
      path: "Tests/Benchmarks/ProcessBenchmarks", swiftSettings: testSettings),
    // The dashboard on a run that the program makes up, frame by frame or under load.
    .executableTarget(
      name: "dashboard-probe",
      dependencies: ["Dashboard", "JobEngine", "JobModel", "NcursesTerminal", "Operations", "Screen"],
      path: "Tests/DashboardProbe", swiftSettings: testSettings),
    // What Tests/Benchmarks/run measures of the screen, and its fuzzing.
    .executableTarget(
      name: "screen-benchmarks", dependencies: ["Support"], path: "Tests/Benchmarks/ScreenBenchmarks",
      swiftSettings: testSettings),
    // The pure parts on a fixed input, whose instructions Tests/Benchmarks/run counts.
    .executableTarget(
      name: "core-benchmarks",
      dependencies: ["Dashboard", "JobEngine", "JobFiles", "JobModel", "Operations", "Screen"],
      path: "Tests/Benchmarks/CoreBenchmarks", swiftSettings: testSettings),
    tests("JobModel", ["Support"], exclude: ["Goldens"]),
    tests(
      "JobEngine", ["CCurl", "Support", "Dashboard", "JobModel", "Operations", "Reports", "Screen"],
      exclude: ["Recordings"]),
    tests("JobCluster", ["Support", "JobEngine", "JobModel", "Operations", "Processes", "Slurm"]),
    tests("JobFiles", ["Support", "JobModel", "Screen"], exclude: ["Goldens"]),
    tests("Remote", ["Basics", "JobModel", "Support"]),
    tests("Reports", ["CZlib", "Support", "JobFiles", "JobModel", "Operations", "Screen"], exclude: ["Goldens"]),
    tests("RunStore", ["Support", "Basics", "CSQLite", "JobModel", "store-probe"]),
    // A program for the store's tests to kill.
    .executableTarget(
      name: "store-probe", dependencies: ["JobModel", "RunStore", "Support"], path: "Tests/StoreProbe",
      swiftSettings: testSettings),
    tests("Screen", ["Support"]),
    tests("Dashboard", ["Basics", "Support", "JobModel", "Screen"], exclude: ["Goldens", "Recordings"]),
    tests("NcursesTerminal", ["CTerminal", "Support", "Screen", "terminal-probe"]),
    tests("DemoServer", ["Support", "Checksums"]),
    tests("Scenarios", ["Support", "DemoServer", "JobEngine", "JobFiles", "JobModel", "OperationDashboard"]),
    tests("OperationDashboard", ["Support", "JobModel", "Operations", "Processes", "Remote", "Session", "Transfers"]),
    tests(
      "Session",
      ["Basics", "CTerminal", "Support", "Dashboard", "JobModel", "NcursesTerminal", "Operations", "Reports", "Screen"]),
    tests(
      "opdash",
      [
        "Support", "Dashboard", "JobFiles", "JobModel", "Operations", "Remote", "Reports", "RunStore", "Screen",
        "Session",
      ]),
    // The built program in a real terminal, from the outside. It does not depend on opdash and dashboard-probe, which every
    // build of the tests makes: the longest compilation would wait for theirs.
    .testTarget(
      name: "EndToEndTests",
      dependencies: ["Dashboard", "DemoServer", "JobModel", "RunStore", "Screen", "Support"],
      exclude: ["Fixtures"],
      swiftSettings: testSettings),
  ],
  swiftLanguageModes: [.v6]
)

// libFuzzer has the main function, so this target is there only for Tests/Fuzzers/run and Tests/run. The latter has no
// build with sanitizers: only this target tells libFuzzer where it was.
if isGate || Context.environment["OPDASH_FUZZER"] != nil {
  let gate = isGate ? ["-sanitize=fuzzer"] : []
  package.targets.append(
    .executableTarget(
      name: "fuzzer",
      dependencies: [
        "Basics", "Checksums", "Dashboard", "JobFiles", "JobModel", "NcursesTerminal", "Operations", "Processes",
        "Remote", "Reports", "RunStore", "Screen", "Slurm", "Transfers",
      ], path: "Tests/Fuzzers", exclude: ["run", "connection.ndjson"],
      swiftSettings: testSettings + [.unsafeFlags(["-parse-as-library"] + gate)],
      linkerSettings: [.unsafeFlags(gate)]))
}
