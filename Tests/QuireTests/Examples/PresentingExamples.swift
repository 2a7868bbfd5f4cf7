import Foundation
import Quire

final class Viewer: FilePresenter {
    let presentedItemURL: URL?
    let presentedItemOperationQueue = OperationQueue()

    init(_ url: URL) { presentedItemURL = url }

    func presentedItemDidChange() {
        print("changed: read it again, in a coordinated read")
    }
}

func present(_ note: URL) async throws -> Viewer {
    let viewer = Viewer(note)
    try await FileCoordinator().coordinate(readingItemAt: note) { url in
        try await FileCoordinator.addFilePresenter(viewer)
        print(try String(contentsOf: url, encoding: .utf8))
    }

    FileCoordinator.removeFilePresenter(viewer)
    return viewer
}
