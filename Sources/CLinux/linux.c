#include "CLinux.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

int quire_renameat2(int from, const char *source, int to, const char *target, unsigned int flags) {
    return renameat2(from, source, to, target, flags);
}

int quire_ficlone(int target, int source) { return ioctl(target, FICLONE, source); }
