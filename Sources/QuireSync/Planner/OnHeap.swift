/// A value that many copies share: of a hundred thousand units, each in several lists, one copy of each side is enough.
@propertyWrapper
package struct OnHeap<Value: Sendable & Hashable>: Sendable, Hashable {
    private final class Box: Sendable, Hashable {
        let value: Value

        init(_ value: Value) { self.value = value }

        static func == (left: Box, right: Box) -> Bool { left === right || left.value == right.value }
        func hash(into hasher: inout Hasher) { hasher.combine(value) }
    }

    private var box: Box?

    package init(wrappedValue: Value?) { box = wrappedValue.map(Box.init) }

    /// As a whole, to be shared by another property.
    package var projectedValue: OnHeap { self }

    package var wrappedValue: Value? {
        get { box?.value }
        set { box = newValue.map(Box.init) }
    }
}
