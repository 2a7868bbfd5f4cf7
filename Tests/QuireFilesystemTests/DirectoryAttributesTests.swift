import CFuse
import Glibc
import QuireCore
import Testing

@testable import QuireFilesystem

@Suite("Attributes of directories that change")
struct DirectoryAttributesTests {
    @Test("The kernel is told of a change where it may have been told the attributes since the last one")
    func told() throws {
        let store = try TestStore()
        try store.makeDirectory("d")
        let (table, directory) = (store.driver.table, try store.lookUp("d"))
        #expect(!table.changed(directory))
        let status = try store.driver.resolver.status(directory)
        #expect(table.shown(status, of: directory, asOf: table.moment).mayBeKept)
        #expect(table.changed(directory))
        #expect(!table.changed(directory), "once")
    }

    @Test("Attributes from before a change are not kept; a file's are, as its directory says nothing of it")
    func late() throws {
        let store = try TestStore()
        try store.makeDirectory("d")
        try store.write("d/f", "x")
        let (table, directory, file) = (store.driver.table, try store.lookUp("d"), try store.lookUp("d/f"))
        let moment = table.moment
        let status = try store.driver.resolver.status(directory)
        _ = table.changed(directory)
        #expect(!table.shown(status, of: directory, asOf: moment).mayBeKept)
        #expect(table.shown(status, of: directory, asOf: table.moment).mayBeKept)
        #expect(table.shown(try store.driver.resolver.status(file), of: file, asOf: moment).mayBeKept)
    }
}
