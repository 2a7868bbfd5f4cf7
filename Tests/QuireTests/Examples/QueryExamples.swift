import Foundation
import Quire
import Testing

/// The examples of the article on queries, compiled; what queries do is tested on a mount.
enum QueryExamples {
    static func running() async {
        let query = MetadataQuery()
        query.predicate = .name == "test.txt" && .size < 1_000_000
        query.start()
        for await phase in query.phases {
            switch phase {
            case .finishedGathering: print("\(query.resultCount) found")
            case .updated(let changes): print("\(changes.added.count) came, \(changes.removed.count) went")
            case .failed(let error): print(error)
            case .started, .progress: break
            }
        }
    }

    static func expression(_ query: MetadataQuery, _ pictures: URL) {
        query.predicate = #"kMDItemContentTypeTree == "public.image" && modified >= $time.today(-7)"#
        query.searchScopes = [.directory(pictures)]
        query.sortDescriptors = [.init("kMDItemFSContentChangeDate", isAscending: false)]
    }

    static func results(_ query: MetadataQuery) {
        for item in query.results where item.isDataless {
            print(item.name, item.size ?? 0, item.contentType.identifier)
        }
    }
}

@Suite("Predicates")
struct MetadataPredicateTests {
    @Test("Typed predicates are expressions, texts quoted so that nothing in them stands for anything else")
    func expressions() {
        let predicate: MetadataPredicate = .name == #"a*"b"\?"# && !(.isDirty == true || .size > 5)
        #expect(predicate.expression == #"(name == "a\*\"b\"\\\?") && (!((dirty == true) || (size > 5)))"#)
        #expect(MetadataPredicate.matches(.name, "Re*", ignoringCase: true).expression == #"name == "Re*"c"#)
    }

    @Test("A query without a predicate does not start, and tells nothing")
    func start() {
        let query = MetadataQuery()
        #expect(!query.start() && query.isStopped && !query.isGathering && query.resultCount == 0)
    }
}
