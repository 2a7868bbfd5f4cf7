import Foundation
import Quire

// A text editor for the terminal, built on `Document`: see Editor.swift for all that has to do with the drive.
//
//   quire-example-editor [--no-autosave] FILE        FILE on a drive; made where it is not there
//
// Ctrl-S saves, Ctrl-Z takes the last edit back, Ctrl-Y makes it again, Ctrl-Q leaves. What is typed and not saved is what
// `cat FILE` prints, as opening the file asks this editor to save first; what others write to it is in the window at once.

var arguments = Array(CommandLine.arguments.dropFirst())
let savesByItself = arguments.first != "--no-autosave"
if !savesByItself { arguments.removeFirst() }

guard arguments.count == 1, let path = arguments.first, let terminal = Terminal() else {
    FileHandle.standardError.write(Data("usage, in a terminal: quire-example-editor [--no-autosave] FILE\n".utf8))
    exit(64)
}
do {
    let document = try await GenericTextDocument.open(at: URL(filePath: path))
    if !savesByItself { document.autosavingDelay = nil }
    try terminal.begin()
    await Editor(document, terminal).run()
    terminal.end()
} catch {
    terminal.end()
    FileHandle.standardError.write(Data("quire-example-editor: \(path): \(error)\n".utf8))
    exit(1)
}
