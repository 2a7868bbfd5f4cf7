import QuireCore
extension Driver { func commit(_ change: LocalChange) throws(LocalChangeError) -> LocalChangeResult { .stale } }
