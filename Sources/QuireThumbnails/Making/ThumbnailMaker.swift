package import Foundation
import Glibc
package import QuireConfinement
package import QuireCore

/// Makes pictures of documents, by confined programs.
///
/// Blocks for as long as they take; any thread, several at a time.
package struct ThumbnailMaker: Sendable {
    /// The longest side of what is made and kept.
    package static let side = ThumbnailSize.xLarge.rawValue
    /// Of one picture that is believed.
    package static let largestPicture = 8 << 20
    /// Of a text only this much is drawn.
    package static let textPart = 8192

    package let recipes: ThumbnailRecipes
    package let directories: WorkDirectory
    package var limits = ConfinementLimits()

    package init(recipes: ThumbnailRecipes, directories: WorkDirectory) {
        self.recipes = recipes
        self.directories = directories
    }

    /// Whether something here makes pictures of that type. Text is drawn from its beginning where nothing else does.
    package func makes(_ type: String) -> Bool { !recipes.recipes(for: type).isEmpty || drawsText(type) }

    /// Whether the type is drawn as a page of text.
    package func drawsText(_ type: String) -> Bool {
        recipes.recipes(for: type).isEmpty && recipes.drawsText && Self.isText(type)
    }

    private static func isText(_ type: String) -> Bool {
        type.hasPrefix("text/") || ["application/json", "application/xml", "application/x-shellscript"].contains(type)
    }

    /// Makes a picture.
    ///
    /// - Parameters:
    ///   - copy: absolute path of a copy of the content, which is taken away.
    ///   - ending: of the document's name, for programs that go by it.
    ///   - size: the longest side, in pixels.
    /// - Returns: a sound PNG; nil when no program made one: they are not to be tried again with the same content.
    /// - Throws: where no program could be started, or `isCancelled` answered true.
    package func picture(
        ofCopy copy: String, type: String, ending: String, size: Int = ThumbnailMaker.side,
        isCancelled: () -> Bool = { false }
    ) throws(QuireError) -> Data? {
        let name = "document.\(Self.plain(ending))"
        let directory = try directories.make(with: copy, as: name)
        defer { WorkDirectory.remove(directory) }
        return try picture(of: "\(directory)/\(name)", recipes.recipes(for: type), in: directory, size, isCancelled)
    }

    /// Draws the beginning of a text.
    ///
    /// - Parameter bytes: up to `textPart` of them.
    /// - Returns: as `picture`; nil also for what is no text.
    package func picture(
        ofText bytes: [UInt8], size: Int = ThumbnailMaker.side, isCancelled: () -> Bool = { false }
    ) throws(QuireError) -> Data? {
        guard let drawing = TextPage.drawing(of: bytes) else { return nil }
        return try picture(
            of: Data(drawing.utf8), ending: "svg", recipes.recipes(for: "image/svg+xml"), size, isCancelled)
    }

    /// A smaller version of a picture; nil where no program here makes one.
    package func scaled(
        _ picture: Data, to size: Int, isCancelled: () -> Bool = { false }
    ) throws(QuireError) -> Data? {
        try self.picture(of: picture, ending: "png", recipes.scaling, size, isCancelled)
    }

    private func picture(
        of bytes: Data, ending: String, _ recipes: [ThumbnailRecipe], _ size: Int, _ isCancelled: () -> Bool
    ) throws(QuireError) -> Data? {
        let directory = try directories.make()
        defer { WorkDirectory.remove(directory) }
        let input = "\(directory)/document.\(ending)"
        guard FileManager.default.createFile(atPath: input, contents: bytes) else {
            throw QuireError(.failed, "\(input) cannot be written")
        }
        directories.hand(input)
        return try picture(of: input, recipes, in: directory, size, isCancelled)
    }

    private func picture(
        of input: String, _ recipes: [ThumbnailRecipe], in directory: String, _ size: Int, _ isCancelled: () -> Bool
    ) throws(QuireError) -> Data? {
        let output = "\(directory)/picture.png"
        for recipe in recipes {
            unlink(output)
            let program = ConfinedProgram(
                program: recipe.program, arguments: recipe.arguments(input, output, size), directory: directory,
                limits: limits)
            guard try program.run(isCancelled: isCancelled) == .exited(code: 0),
                let picture = Self.sound(output, side: size)
            else { continue }
            return picture
        }
        return nil
    }

    /// What a program wrote, if it is a plain file with a picture that may be shown.
    static func sound(_ path: String, side: Int) -> Data? {
        guard let data = WorkDirectory.read(path, limit: largestPicture) else { return nil }
        return sound(data, side: side)
    }

    /// `data`, if it is a picture that may be shown, whoever it is from.
    package static func sound(_ data: Data, side: Int = ThumbnailSize.xxLarge.rawValue) -> Data? {
        guard data.count <= largestPicture, let png = PNGPicture(data), png.isSound(side: side) else { return nil }
        return data
    }

    private static func plain(_ ending: String) -> String {
        let letters = ending.utf8.filter { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) }
        return String(decoding: letters.prefix(16), as: UTF8.self)
    }
}
