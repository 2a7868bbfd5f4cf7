/// How long to wait for a daemon that is not there: longer each time, up to a second.
struct ReconnectPause {
    private var next = Duration.milliseconds(20)

    mutating func wait() async {
        // Ends early only when the task is cancelled: whoever waits looks at that.
        try? await Task.sleep(for: next)
        next = min(next * 2, .seconds(1))
    }
}
