import Foundation
import Quire

@MainActor
func readme() async throws {
    let url = URL(filePath: "/home/ada/Drive/letter.txt")
    let letter = try await GenericTextDocument.open(at: url, defaultText: "Dear Ada,\n")
    letter.text += "see you soon\n"  // `cat letter.txt` prints this from now on, saved or not
    for await event in letter.events {
        if case .contentsLoaded = event { print(letter.text) }  // `echo more >> letter.txt` comes here
    }
}
