public import Foundation
import QuireCore

/// A document that is a text in UTF-8: a whole app's model, and the example of a `Document`.
public final class GenericTextDocument: Document {
    private var contents = ""

    /// The text. Setting it is an edit, which an undo manager takes back where the document has been asked for one.
    public var text: String {
        get { contents }
        set {
            let before = contents
            contents = newValue
            guard let undoing else { return updateChangeCount(.done) }
            undoing.registerUndo(withTarget: self) { $0.text = before }
        }
    }

    /// Opens the text at `url`, which is made with `defaultText` where there is none.
    ///
    /// - Throws: as `open()` and `save(to:for:)`.
    public static func open(at url: URL, defaultText: String = "") async throws -> GenericTextDocument {
        let document = GenericTextDocument(fileURL: url)
        do {
            try await document.open()
        } catch let error as CocoaError where error.code == .fileNoSuchFile {
            document.contents = defaultText
            do {
                try await document.saveNew(to: url)
            } catch let error as CocoaError where error.code == .fileWriteFileExists {
                // It has come meanwhile.
                document.contents = ""
                try await document.open()
            }
        }
        return document
    }

    /// The text's bytes.
    public override func contents(forType typeName: String?) throws -> Data { Data(contents.utf8) }

    /// Takes a text.
    ///
    /// - Throws: `CocoaError(.fileReadInapplicableStringEncoding)` for bytes that are not UTF-8.
    public override func load(fromContents contents: Data, ofType typeName: String?) throws {
        guard let text = String(validating: contents, as: UTF8.self) else {
            throw CocoaError(.fileReadInapplicableStringEncoding, userInfo: [NSFilePathErrorKey: fileURL.path])
        }
        self.contents = text
    }
}
