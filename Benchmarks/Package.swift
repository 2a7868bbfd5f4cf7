// swift-tools-version: 6.2
import PackageDescription

// A package of its own: the measurements need nothing of the product but its binary.
let package = Package(
    name: "quire-benchmarks",
    targets: [
        .executableTarget(name: "quire-bench", swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
