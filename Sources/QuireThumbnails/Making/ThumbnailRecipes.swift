import Foundation
import QuireConfinement
import QuireCore

/// One way to make a picture of a document.
package struct ThumbnailRecipe: Sendable {
    /// Absolute path of the program.
    package let program: String
    /// The arguments for a document's copy and the picture, both by absolute path, and the longest side.
    package let arguments: @Sendable (_ input: String, _ output: String, _ size: Int) -> [String]
}

/// The programs on this machine that make pictures of documents, by media type.
///
/// For images vips, then the freedesktop.org thumbnailers; for PDF poppler's; for all else the thumbnailers that are
/// installed. Read once; reads small files.
package struct ThumbnailRecipes: Sendable {
    private var byType: [String: [ThumbnailRecipe]] = [:]
    private let vips: String?
    private let pdf: String?

    /// - Parameters:
    ///   - directories: where `.thumbnailer` files are looked for; of two with the same name the first counts.
    ///   - path: where programs are looked for.
    package init(
        directories: [String] = ThumbnailRecipes.standardDirectories,
        path: [String] = InstalledProgram.path
    ) {
        vips = InstalledProgram.find("vipsthumbnail", in: path)
        pdf = InstalledProgram.find("pdftoppm", in: path)
        var seen = Set<String>()
        for directory in directories {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            for name in names.sorted() where name.hasSuffix(".thumbnailer") && seen.insert(name).inserted {
                guard let data = FileManager.default.contents(atPath: "\(directory)/\(name)"), data.count < 1 << 20,
                    let entry = ThumbnailerEntry(String(decoding: data, as: UTF8.self)),
                    let program = InstalledProgram.find(entry.command[0], in: path),
                    entry.tryExec.map({ InstalledProgram.find($0, in: path) != nil }) ?? true
                else { continue }
                let recipe = ThumbnailRecipe(program: program) { input, output, size in
                    let uri = ThumbnailCache.uri(Array(input.utf8))
                    return Array(entry.arguments(input: input, uri: uri, output: output, size: size).dropFirst())
                }
                for type in entry.mimeTypes { byType[type, default: []].append(recipe) }
            }
        }
    }

    /// `$XDG_DATA_HOME/thumbnailers`, then those in `$XDG_DATA_DIRS`.
    package static var standardDirectories: [String] {
        var environment = ProcessInfo.processInfo.environment
        if environment["HOME"] == nil { environment["HOME"] = FileManager.default.homeDirectoryForCurrentUser.path }
        return XDGDirectories.data("thumbnailers") { environment[$0] }
    }

    /// What to try, in this order; empty where nothing here makes pictures of that type.
    package func recipes(for type: String) -> [ThumbnailRecipe] {
        var recipes = byType[type] ?? []
        if type == "application/pdf", let pdf { recipes.insert(Self.pdf(pdf), at: 0) }
        if Self.vipsTypes.contains(type), let vips { recipes.insert(Self.vips(vips), at: 0) }
        return recipes
    }

    /// Whether pages of text can be drawn: vips draws them.
    package var drawsText: Bool { vips != nil }

    /// Makes a smaller picture of a PNG file.
    package var scaling: [ThumbnailRecipe] { recipes(for: "image/png") }

    private static let vipsTypes: Set<String> = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/tiff", "image/svg+xml", "image/heif", "image/avif",
        "image/x-portable-bitmap", "image/x-portable-graymap", "image/x-portable-pixmap",
    ]

    private static func vips(_ program: String) -> ThumbnailRecipe {
        ThumbnailRecipe(program: program) { input, output, size in
            // Only ever smaller.
            [input, "--size", "\(size)x\(size)>", "-o", output]
        }
    }

    private static func pdf(_ program: String) -> ThumbnailRecipe {
        ThumbnailRecipe(program: program) { input, output, size in
            // It appends the extension by itself.
            ["-png", "-singlefile", "-f", "1", "-l", "1", "-scale-to", "\(size)", input, String(output.dropLast(4))]
        }
    }
}
