import QuireCore
import Testing

@testable import QuireStore

@Suite("A content checksum") struct ContentHasherTests {
    @Test(
        "is SHA-256 (FIPS 180-2 examples)",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func vectors(text: String, hex: String) {
        #expect(ContentHasher.checksum(of: Array(text.utf8)).description == hex)
    }

    @Test("does not depend on how the content comes in pieces; holes count as zeros")
    func pieces() {
        let bytes = (0..<1000).map { UInt8($0 & 0xFF) } + [UInt8](repeating: 0, count: 70_000)
        var hasher = ContentHasher()
        for start in stride(from: 0, to: 1000, by: 7) {
            bytes[start..<min(start + 7, 1000)].withUnsafeBytes { hasher.update($0) }
        }
        hasher.update(zeros: 70_000)
        #expect(hasher.finalize() == ContentHasher.checksum(of: bytes))
    }
}
