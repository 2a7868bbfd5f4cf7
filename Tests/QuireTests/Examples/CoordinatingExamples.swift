import Foundation
import Quire

func append(_ note: URL) async throws -> String {
    let text = try await FileCoordinator().coordinate(readingItemAt: note) { url in
        try String(contentsOf: url, encoding: .utf8)
    }

    try await FileCoordinator().coordinate(writingItemAt: note, options: .forMerging) { url in
        let text = try String(contentsOf: url, encoding: .utf8)
        try (text + "one line more\n").write(to: url, atomically: true, encoding: .utf8)
    }
    return text
}

func move(_ note: URL, _ archived: URL) async throws {
    let coordinator = FileCoordinator()
    let source = FileAccessIntent.writingIntent(with: note, options: .forMoving)
    let target = FileAccessIntent.writingIntent(with: archived, options: .forReplacing)
    try await coordinator.coordinate(with: [source, target]) {
        try coordinator.item(at: source.url, willMoveTo: target.url)
        try FileManager.default.moveItem(at: source.url, to: target.url)
        try await coordinator.item(at: source.url, didMoveTo: target.url)
    }
}

func snapshot(_ note: URL, upload: (URL) async throws -> Void) async throws {
    try await FileCoordinator().coordinate(readingItemAt: note, options: .forUploading) { snapshot in
        try await upload(snapshot)
    }
}
