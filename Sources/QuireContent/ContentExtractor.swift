package import QuireConfinement
package import QuireCore

/// Finds the text of documents: of texts by itself, of others by confined programs, whose output is not trusted either.
///
/// Blocks for as long as they take; any thread, several at a time.
package struct ContentExtractor: Sendable {
    package let directories: WorkDirectory
    package var limits = ConfinementLimits()
    private let programs: [String: String]

    /// - Parameter path: where programs are looked for, once.
    package init(directories: WorkDirectory, path: [String] = InstalledProgram.path) {
        self.directories = directories
        programs = ["pdftotext", "unzip"].reduce(into: [:]) { $0[$1] = InstalledProgram.find($1, in: path) }
    }

    /// How text is found in documents of a type; nil where it is not, or not on this machine.
    package func form(of type: ContentType) -> ContentForm? {
        guard let form = ContentForm(type), form.program.map({ programs[$0.name] != nil }) ?? true else { return nil }
        return form
    }

    /// What is missing on this machine: kinds of documents, and Debian's packages that would find their text.
    package var missing: [(documents: String, package: String)] {
        [("PDF documents", ContentForm.pdf), ("office documents", .archive([], isHTML: false))].compactMap {
            kind, form in
            form.program.flatMap { programs[$0.name] == nil ? (kind, $0.package) : nil }
        }
    }

    /// How many bytes of the document's beginning are to be given to `text(of:)`; nil for forms that take a copy.
    package static func reach(_ form: ContentForm) -> Int? {
        switch form {
        // In UTF-16 the text that is kept takes twice as many.
        case .plain: 2 * Int(ContentLimits.text.bytes) + 2
        case .html, .xml, .rich: Int(ContentLimits.input.bytes)
        case .pdf, .archive: nil
        }
    }

    /// The text of a document that is text.
    ///
    /// - Parameter bytes: its beginning, as far as `reach` says.
    /// - Returns: at most `ContentLimits.text`; nil for what is no text.
    package func text(of bytes: [UInt8], _ form: ContentForm) -> String? {
        let limit = Int(ContentLimits.text.bytes)
        let isWhole = bytes.count < Self.reach(form) ?? 0
        switch form {
        case .plain: return TextDecoder.text(bytes, isWhole: isWhole).map(Self.bounded)
        case .html, .xml:
            let dialect: MarkupText.Dialect = form == .html ? .html : .xml
            return TextDecoder.text(bytes, isWhole: isWhole).map {
                Self.bounded(MarkupText.text($0, dialect, limit: limit))
            }
        case .rich: return Self.bounded(RichText.text(bytes, limit: limit))
        case .pdf, .archive: return nil
        }
    }

    /// The text of a document that a program reads.
    ///
    /// - Parameters:
    ///   - copy: absolute path of a copy of the content, which is taken away.
    ///   - isCancelled: asked ten times a second while a program runs.
    /// - Returns: at most `ContentLimits.text`; nil where the program failed, or met a limit: it is not to be tried again with
    ///   the same content.
    /// - Throws: where no program could be started, or `isCancelled` answered true.
    package func text(
        ofCopy copy: String, _ form: ContentForm, isCancelled: () -> Bool = { false }
    ) throws(QuireError) -> String? {
        let directory = try directories.make(with: copy, as: "document")
        defer { WorkDirectory.remove(directory) }
        let input = "\(directory)/document"
        guard let name = form.program?.name, let program = programs[name] else { return nil }
        let run = ConfinedProgram(
            program: program, arguments: Self.arguments(form, input, directory), directory: directory, limits: limits)
        let end = try run.run(isCancelled: isCancelled)
        guard case .exited(let code) = end, Self.succeeded(form, code) else { return nil }
        return Self.output(form, in: directory)
    }

    // MARK: Programs

    private static func arguments(_ form: ContentForm, _ input: String, _ directory: String) -> [String] {
        switch form {
        case .plain, .html, .xml, .rich: []
        case .pdf: ["-q", "-enc", "UTF-8", "-nopgbrk", input, "\(directory)/text.out"]
        // Without their directories: no link in the archive leads elsewhere.
        case .archive(let members, _): ["-qq", "-j", "-o", input] + members + ["-d", "\(directory)/members"]
        }
    }

    /// `unzip` says 1 for warnings and 11 where one of several patterns fits nothing (its manual page, Diagnostics).
    private static func succeeded(_ form: ContentForm, _ code: Int32) -> Bool {
        if case .archive = form { [0, 1, 11].contains(code) } else { code == 0 }
    }

    private static func output(_ form: ContentForm, in directory: String) -> String? {
        guard case .archive(_, let isHTML) = form else {
            return read("\(directory)/text.out").map(bounded)
        }
        let members = WorkDirectory.names(in: "\(directory)/members").sorted {
            ($0.utf8.count, $0) < ($1.utf8.count, $1)
        }
        guard !members.isEmpty else { return nil }
        let limit = Int(ContentLimits.text.bytes)
        var text = ""
        for member in members where text.utf8.count < limit {
            guard let markup = read("\(directory)/members/\(member)") else {
                continue
            }
            text += MarkupText.text(markup, isHTML ? .html : .office, limit: limit - text.utf8.count) + "\n"
        }
        return bounded(text)
    }

    /// The text in a file that a program left, of which at most the limit counts.
    private static func read(_ file: String) -> String? {
        guard let data = WorkDirectory.read(file, limit: Int(ConfinementLimits().fileSize.bytes)) else { return nil }
        let bytes = Array(data.prefix(Int(ContentLimits.input.bytes)))
        return TextDecoder.text(bytes, isWhole: bytes.count == data.count)
    }

    /// Without NULs, cut after a whole character.
    private static func bounded(_ text: String) -> String {
        let bytes = text.utf8.prefix(Int(ContentLimits.text.bytes)).map { $0 == 0 ? 0x20 : $0 }
        for cut in 0...min(3, bytes.count) {
            if let whole = String(validating: bytes.dropLast(cut), as: UTF8.self) { return whole }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
