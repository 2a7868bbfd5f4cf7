import CLinux

// Flags that Swift's Glibc module does not show, under their usual names.
let O_PATH = quire_O_PATH
let AT_EMPTY_PATH = quire_AT_EMPTY_PATH
