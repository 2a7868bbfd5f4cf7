import Foundation
import Quire

func connect() async {
    guard let documents = await Drive.url(forContainer: "com.example.notes") else {
        return print("The drive is not mounted: quire mount")
    }
    let note = documents.appending(path: "note.txt")
    print(note)
}

func find(_ note: URL) async {
    do {
        let drive = try await Drive.containing(note)
        print("on the drive kept in \(drive.home)")
    } catch {
        print(error)  // the item, what is wrong, and what to do about it
    }
}
