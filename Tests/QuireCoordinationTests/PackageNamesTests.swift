import QuireCore
import Testing

@Suite("Package names")
struct PackageNamesTests {
    let names = PackageNames(extensions: ["pkg", "Bundle"])

    @Test("The outermost and all packages on the way are found by their extensions")
    func find() {
        #expect(names.root(of: "a/P.pkg/Q.bundle/b") == "a/P.pkg")
        #expect(names.all(on: "a/P.pkg/Q.BUNDLE/b") == ["a/P.pkg", "a/P.pkg/Q.BUNDLE"])
        #expect(names.root(of: "a.pkg") == "a.pkg")
        #expect(names.root(of: "a.pkgs/b") == nil)
        #expect(names.root(of: "a/.pkg") == nil)
        #expect(names.root(of: .root) == nil)
        #expect(names.contains("x/a.pkg"))
        #expect(!names.contains("x.pkg/a"))
    }
}
