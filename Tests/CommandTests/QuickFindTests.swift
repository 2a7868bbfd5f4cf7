import ArgumentParser
import QuireCommandLine
import QuireTestSupport
import Testing

@testable import QuireMain

@Suite("The plain forms of find")
struct QuickFindTests {
    private static let words = [
        "--count", "--count", "-count", "-0", "-0", "--name", "-name", "-name", "--limit", "--limit", "--home",
        "--home",
        "3", "12", "0", "-1", "+4", "007", "99999999999999999999", "*.txt", "*.txt", "name == \"a b\"", "(", "a=b", "",
        " ",
        "--", "-", "--json", "--live", "--onlyin", "--sort", "-size", "--limit=2", "--name=x", "--home=/h", "help",
        "--help",
        "-h", "-00", "-0h", "--version", "é", "-é", ArgumentBytes.text([0xFF]), "find", "status",
        "--generate-completion-script",
    ]

    /// The same lists each time: what is new in the parser shows as a failure, not by chance.
    @Test("What is read without a general parser is what that reads")
    func sameAsParser() {
        var random = SeededRandom(seed: 20_261_123)
        var taken = 0
        for _ in 0..<4_000 {
            let arguments =
                ["find"]
                + (0..<Int.random(in: 0...5, using: &random)).map { _ in Self.words.randomElement(using: &random) ?? ""
                }
            guard let quick = QuickFind(arguments) else { continue }
            taken += 1
            do {
                let parsed = try QuireCommand.parseAsRoot(arguments)
                guard let find = parsed as? Find else {
                    Issue.record("\(arguments) is another command")
                    continue
                }
                #expect(quick.expression == find.expression && quick.name == find.name, "\(arguments)")
                #expect(quick.isCount == find.count && quick.limit == find.limit, "\(arguments)")
                #expect(quick.endsWithNull == find.null && quick.home == find.home.path, "\(arguments)")
                #expect(!find.json && !find.live && find.order.isEmpty && find.states.isEmpty, "\(arguments)")
                #expect(find.directory == nil, "\(arguments)")
            } catch {
                Issue.record("\(arguments): \(error)")
            }
        }
        // Of lists of random words few make sense.
        #expect(taken > 400, "\(taken)")
    }

    @Test(
        "What is not plain is left to the whole program",
        arguments: [
            [], ["status"], ["find", "--json"], ["find", "--count", "--count"], ["find", "--limit", "0"],
            ["find", "a", "b"],
            ["find", "--name"], ["--home", "/h", "find"], ["find", "--help"], ["find", "--limit=3"], ["find", "help"],
        ])
    func left(arguments: [String]) { #expect(QuickFind(arguments) == nil) }
}
