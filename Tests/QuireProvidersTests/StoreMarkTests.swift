import QuireCore
import Testing

@testable import QuireProviders

@Suite("The mark that says which store it is")
struct StoreMarkTests {
    private func words(_ text: String, isAnswer: Bool) -> String? {
        do throws(ProviderError) {
            _ = try StoreMark(Array(text.utf8), at: "there", isAnswer: isAnswer)
            return nil
        } catch {
            #expect(error.code == .unavailable && !error.isOtherStore)
            return error.message
        }
    }

    @Test(
        "A page that came in a mark's place is not called a damaged mark",
        arguments: [
            "<html><title>Sign in</title></html>", "\n <!DOCTYPE html>", "Welcome", "{\"error\":\"login\"}", "[]",
            "null",
            "<html>" + String(repeating: "x", count: 5000),
        ])
    func foreign(text: String) throws {
        let answered = try #require(words(text, isAnswer: true))
        #expect(answered.contains("something else than the store answered") && !answered.contains("remove it"))
        // In a folder nobody else answers.
        #expect(try #require(words(text, isAnswer: false)).contains("is damaged; restore it"))
    }

    @Test(
        "A mark that was cut or lost its content is damaged, wherever it is",
        arguments: [
            "", "\n", "\0\0\0", "{\"format\":1,\"iden", "{\"format\":1}", "{\"format\":1,\"identity\":\"\"}",
        ])
    func damaged(text: String) throws {
        for isAnswer in [true, false] {
            #expect(try #require(words(text, isAnswer: isAnswer)).contains("is damaged; restore it"))
        }
    }

    @Test("A whole mark is read, and a newer one is told as such")
    func whole() throws {
        let mark = StoreMark.fresh()
        #expect(try StoreMark(mark.bytes, at: "there", isAnswer: true) == mark)
        #expect(words("{\"format\":2,\"identity\":\"x\",\"more\":[]}", isAnswer: true)?.contains("newer") == true)
    }

    @Test("A login page in place of a WebDAV server's mark is told as such, however long it is")
    func page() async throws {
        let server = try DAVStandIn(DAVStandIn.Manners())
        let id = try await server.provider().connect(expected: nil)
        for length in [10, 100_000] {
            server.with { _ = $0.write(".quire/store.json", "<p>" + String(repeating: "x", count: length)) }
            do {
                _ = try await server.provider().connect(expected: id)
                Issue.record("it is connected")
            } catch {
                #expect(error.message.contains("something else than the store answered"), "\(error)")
            }
        }
    }

    @Test("Content is asked for as it is, not packed")
    func identity() {
        let transport = HTTPTransport(origin: HTTPOrigin(isSecure: false, host: "h"))
        let client = DAVClient(transport: transport, address: DAVAddress(origin: transport.origin, base: ""))
        #expect(client.request(contentOf: "a").fields["Accept-Encoding"] == "identity")
        #expect(client.request(contentOf: "a", 0..<4).fields["Accept-Encoding"] == "identity")
    }
}
