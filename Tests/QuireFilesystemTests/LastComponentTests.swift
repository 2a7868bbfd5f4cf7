import QuireCore
import Testing

@testable import QuireFilesystem

@Suite("Where a call is over")
struct LastComponentTests {
    private static let name = FileName("new")
    private static let other = FileName("dir")

    @Test(
        "A call is over where the kernel knows how it ends by a name that is there, or is not",
        arguments: [
            // What the call needs; its name there, its name missing, another there, another missing.
            (LastComponent.present, [false, true, false, true]),
            (.made(name, .fails), [true, false, false, true]),
            (.made(name, .opens), [false, false, false, true]),
            (.made(name, .replaces), [false, false, false, true]),
        ])
    func ends(last: LastComponent, expected: [Bool]) {
        let found = [(Self.name, true), (Self.name, false), (Self.other, true), (Self.other, false)]
        #expect(found.map { last.ends($0, isThere: $1) } == expected)
    }

    @Test("After a call that was over at a name, the thread's next one is answered ESTALE as the first was")
    func settles() {
        let answers = StaleAnswers()
        #expect(answers.mayAnswer(1, .made(Self.name, .fails)))
        answers.settle(1, Self.other, isThere: true)
        answers.settle(2, Self.name, isThere: true)
        #expect(!answers.mayAnswer(1, .made(Self.name, .fails)))
        #expect(answers.mayAnswer(1, .made(Self.name, .fails)))
        answers.settle(1, Self.name, isThere: true)
        #expect(answers.mayAnswer(1, .made(Self.name, .fails)))
    }

    @Test("A document that is there does not end the call that opens it: a second ESTALE would reach the program")
    func opens() {
        let answers = StaleAnswers()
        #expect(answers.mayAnswer(1, .made(Self.name, .opens)))
        answers.settle(1, Self.name, isThere: true)
        #expect(!answers.mayAnswer(1))
    }
}
