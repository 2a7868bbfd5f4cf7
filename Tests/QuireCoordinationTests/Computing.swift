import QuireCore

/// Where random histories are computed: on threads of their own that give way. On the few threads that all tests share they
/// would keep those waiting whose promises are about time.
let computing = BackgroundPool(label: "computing", width: 2, niceness: 10)
