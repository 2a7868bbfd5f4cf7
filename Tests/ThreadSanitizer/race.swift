// A race, to prove that the sanitizer tells of one: Scripts/thread-sanitizer compiles and runs it, and wants it to fail.
import Glibc

nonisolated(unsafe) var count = 0

@main
struct Race {
    static func main() {
        var thread = pthread_t()
        let created = pthread_create(
            &thread, nil,
            { _ in
                for _ in 0..<1000 { count += 1 }
                return nil
            }, nil)
        for _ in 0..<1000 { count += 1 }
        if created == 0 { pthread_join(thread, nil) }
        print(count)
    }
}
