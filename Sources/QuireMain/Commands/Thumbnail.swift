import ArgumentParser
import Foundation
import QuireCommandLine
import QuireCore
import QuireThumbnails

struct Thumbnail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnail", abstract: "Show or set a document's picture.",
        discussion: """
            Prints where the picture lies, which is where file managers look; it is made first where there is none, or brought \
            from the provider. Never brings the document's content.
            """)

    @OptionGroup var home: HomeOptions

    @Option(name: [.short, .long], help: "Write the picture to this file instead.")
    var output: String?

    @Option(help: "The side that it fits into, in pixels: 128, 256, 512 or 1024 (default: the largest that there is).")
    var size: Int?

    @Option(
        help: "Make this PNG file, of at most 1024 x 1024 pixels, the picture: as long as the document stays as it is.")
    var set: String?

    @Argument(help: "A document.")
    var path: String

    func validate() throws {
        if set != nil, output != nil || size != nil {
            throw ValidationError("--set goes with neither --output nor --size")
        }
        if let size, ThumbnailSize(rawValue: size) == nil { throw ValidationError("--size is 128, 256, 512 or 1024") }
    }

    func run() async throws {
        let drive = try await DriveSession.daemon(home)
        let target = ItemMethods.Target(path: try drive.targets([path])[0])
        if let set { return try await give(set, to: target, drive) }
        let found = try await drive.caller.call(ThumbnailMethods.Show.self, target)
        guard let picture = found.pictures.last(where: { size == nil || $0.size == size }) else {
            throw QuireError(
                .unavailable, "\(path) has no thumbnail of \(size ?? 0) pixels",
                remedy: "Ask for one of \(found.pictures.map { "\($0.size)" }.joined(separator: ", "))")
        }
        guard let output else { return Output.line(picture.file) }
        try write(try read(picture.file), to: output)
    }

    private func give(_ file: String, to target: ItemMethods.Target, _ drive: DriveSession) async throws {
        let picture = try read(file)
        guard let sound = ThumbnailMaker.sound(picture), let png = PNGPicture(sound),
            let size = ThumbnailSize(fitting: max(png.width, png.height))
        else {
            throw QuireError(
                .usage, "\(file) is no PNG file of at most 1024 x 1024 pixels and 8 MiB",
                remedy: "Convert it, or scale it down: vipsthumbnail \(file) --size 1024x1024 -o picture.png")
        }
        let place = try await drive.caller.call(ThumbnailMethods.Place.self, target)
        let cache = ThumbnailCache(directory: URL(filePath: place.directory))
        // A larger one that was given before would win.
        cache.remove(place.uri)
        try cache.store(picture, size, of: DocumentPlace(uri: place.uri, modified: place.modified), named: file)
        _ = try await drive.caller.call(ThumbnailMethods.Adopt.self, target)
    }

    private func read(_ file: String) throws(QuireError) -> Data {
        do {
            return try Data(contentsOf: URL(filePath: file, relativeTo: .currentDirectory()))
        } catch {
            throw QuireError(.notFound, "\(file) cannot be read", remedy: "Check that it is there, and yours to read")
        }
    }

    private func write(_ picture: Data, to file: String) throws(QuireError) {
        do {
            try picture.write(to: URL(filePath: file, relativeTo: .currentDirectory()))
        } catch {
            throw QuireError(.failed, "\(file) cannot be written", remedy: "Check its directory, and the space there")
        }
    }
}
