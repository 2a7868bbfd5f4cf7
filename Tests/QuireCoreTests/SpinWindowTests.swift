import Testing

@testable import QuireCore

@Suite("How long a reader looks before it sleeps")
struct SpinWindowTests {
    @Test("Requests that come one after the other make it look longer, up to the longest")
    func grows() {
        var window = SpinWindow(longest: 200_000)
        #expect(window.nanoseconds == 20_000)
        window.slept(30_000)
        #expect(window.nanoseconds == 40_000)
        for _ in 0..<10 { window.slept(199_999) }
        #expect(window.nanoseconds == 200_000)
    }

    @Test("Requests that come seldom make it sleep at once; the first quick one makes it look again")
    func shrinks() {
        var window = SpinWindow(longest: 200_000)
        window.slept(200_001)
        #expect(window.nanoseconds == 10_000)
        window.slept(1_000_000)
        #expect(window.nanoseconds == 0)
        window.slept(1_000_000)
        #expect(window.nanoseconds == 0)
        window.slept(50_000)
        #expect(window.nanoseconds == SpinWindow.shortest)
    }

    @Test("On a single core it never looks: the program that waits needs the core")
    func singleCore() {
        var window = SpinWindow(longest: 0)
        #expect(window.nanoseconds == 0)
        window.slept(1)
        #expect(window.nanoseconds == 0)
    }
}
