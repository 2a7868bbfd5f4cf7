package import QuireCore

/// What is to go wrong, and when.
package struct Fault: Sendable {
    package enum Effect: Sendable {
        /// Throws before the provider beneath is asked.
        case failBefore(ProviderError)
        /// Lets the call take effect, then throws: an answer that got lost.
        case failAfter(ProviderError)
        /// Waits at the gate before the provider beneath is asked.
        case hold(Gate)
        /// The same, also when the task is cancelled: as a call to the system that does not come back.
        case hang(Gate)
        /// Lets the call take effect, then waits at the gate before it answers.
        case holdAnswer(Gate)
        /// A fetch ends half way: the file is removed and `.failed` thrown.
        case truncate
    }

    package var call: ProviderCall
    package var effect: Effect
    /// Only calls about this path; nil for any.
    package var path: RelativePath?
    /// Calls that pass before the fault begins.
    package var skipping: Int
    /// How many calls it meets; nil for all from then on.
    package var times: Int?

    package init(
        _ call: ProviderCall, _ effect: Effect, path: RelativePath? = nil, skipping: Int = 0, times: Int? = 1
    ) {
        self.call = call
        self.effect = effect
        self.path = path
        self.skipping = skipping
        self.times = times
    }
}

/// The faults of a `FaultyProvider`, and its counts. A value: the provider guards it.
struct FaultScript {
    var faults: [Fault] = []
    var counts: [ProviderCall: Int] = [:]
    var isAvailable = true

    /// Counts the call and takes the effects that meet it.
    mutating func effects(of call: ProviderCall, _ path: RelativePath?) -> [Fault.Effect] {
        counts[call, default: 0] += 1
        var effects: [Fault.Effect] = []
        for index in faults.indices {
            guard faults[index].call == call, faults[index].path == nil || faults[index].path == path else { continue }
            if faults[index].skipping > 0 {
                faults[index].skipping -= 1
            } else if let times = faults[index].times {
                if times > 0 { effects.append(faults[index].effect) }
                faults[index].times = max(0, times - 1)
            } else {
                effects.append(faults[index].effect)
            }
        }
        faults.removeAll { $0.times == 0 }
        return effects
    }
}
