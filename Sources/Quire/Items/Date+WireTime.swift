import Foundation
import QuireCore

extension Date {
    init(_ time: WireTime) {
        self.init(
            timeIntervalSince1970: TimeInterval(time.time.seconds) + Double(time.time.subsecondNanoseconds) / 1e9)
    }
}
