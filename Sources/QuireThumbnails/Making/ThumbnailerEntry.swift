import Glibc

/// A program that makes thumbnails, as a `.thumbnailer` file describes it (a desktop entry file with one group,
/// `[Thumbnailer Entry]`; GNOME's thumbnailer specification).
package struct ThumbnailerEntry: Sendable, Hashable {
    /// The program, looked up in PATH where it is no path; must be there for the entry to count.
    package var tryExec: String?
    /// Program and arguments, quotes resolved, `%` codes not yet.
    package var command: [String]
    package var mimeTypes: [String]

    /// Reads an entry; nil where it has no `Exec` or no `MimeType`, or a quote that does not end.
    package init?(_ text: String) {
        var values: [String: String] = [:]
        var isEntry = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = Self.trimmed(line)
            if line.hasPrefix("[") {
                isEntry = line == "[Thumbnailer Entry]"
            } else if isEntry, !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") {
                let key = Self.trimmed(line[..<equals])
                // The first of a key counts.
                if values[key] == nil { values[key] = Self.trimmed(line[line.index(after: equals)...]) }
            }
        }
        guard let exec = values["Exec"], let command = Self.words(exec), !command.isEmpty,
            let types = values["MimeType"]
        else { return nil }
        self.command = command
        tryExec = values["TryExec"]
        mimeTypes = types.split(separator: ";").map { Self.trimmed($0) }.filter { !$0.isEmpty }
    }

    /// The command for one document: `%i` its path, `%u` its URI, `%o` where the picture goes, `%s` the size, `%%` a percent
    /// sign. Other codes stand for nothing.
    package func arguments(input: String, uri: String, output: String, size: Int) -> [String] {
        command.map { word in
            var text = ""
            var isCode = false
            for character in word {
                guard isCode else {
                    if character == "%" { isCode = true } else { text.append(character) }
                    continue
                }
                isCode = false
                switch character {
                case "i": text += input
                case "u": text += uri
                case "o": text += output
                case "s": text += String(size)
                case "%": text += "%"
                default: break
                }
            }
            return text
        }
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" }
        let start = text.drop(while: isSpace)
        return String(start.reversed().drop(while: isSpace).reversed())
    }

    /// Words between spaces; double quotes hold one together, with a backslash before what is meant literally in them
    /// (Desktop Entry Specification, "The Exec key").
    private static func words(_ text: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var (isQuoted, isEscaped) = (false, false)
        for character in text {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", isQuoted {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
                word = word ?? ""
            } else if character == " ", !isQuoted {
                if let ended = word { words.append(ended) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard !isQuoted, !isEscaped else { return nil }
        if let word { words.append(word) }
        return words
    }
}
