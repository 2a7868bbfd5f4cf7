import Foundation
import Testing

extension EndToEnd {
    /// The example app, built on `Document`, as a person uses it.
    @Suite("Text editor", .timeLimit(.minutes(5)))
    struct TextEditorTests {
        @Test("cat prints what is typed and not saved; what others write, move and delete is in the window at once")
        func window() async throws {
            try await Workspace.use { space in
                let one = try await space.mounted("one", provider: "\(space.root)/shared")
                let two = try await space.mounted("two", provider: "\(space.root)/shared")
                let output = try await one.python(
                    "text_editor.py",
                    [
                        "\(Machine.buildDirectory)/quire-example-editor", one.binary, one.home, one.mountpoint,
                        two.home, two.mountpoint,
                    ], limitSeconds: 200
                ).succeed()
                // The times that it took, for whoever runs this alone.
                print(output)
                #expect(output.hasSuffix("all steps\n"), "\(output)")
            }
        }
    }
}
