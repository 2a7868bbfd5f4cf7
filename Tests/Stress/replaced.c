/* Documents saved as editors do, by renaming a new file over them, while others open them by name.
 *
 * POSIX (rename): a name that is replaced refers to the old file or the new one at each moment. So every open by name
 * succeeds, for reading, for writing, and with O_CREAT, and finds one whole saved text.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES = 2, LENGTH = 512 };

static void save(int root, const char *name, int process, uint64_t number) {
    char temporary[32], text[LENGTH];
    snprintf(temporary, sizeof temporary, ".save-%d", process);
    memset(text, 'a' + (int)(number % 26), sizeof text);
    int file = openat(root, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) fail(errno, "creating %s", temporary);
    if (write(file, text, sizeof text) != LENGTH || close(file) != 0) fail(errno, "writing %s", temporary);
    if (renameat(root, temporary, root, name) != 0) fail(errno, "saving %s", name);
}

static void look(int root, const char *name, int flags) {
    char text[LENGTH + 1];
    int file = openat(root, name, flags | O_CLOEXEC, 0644);
    if (file < 0) fail(errno, "opening %s with %#x", name, (unsigned)flags);
    ssize_t count = read(file, text, sizeof text);
    if (count != LENGTH) fail(count < 0 ? errno : 0, "%s: %zd bytes", name, count);
    for (int i = 1; i < LENGTH; i++)
        if (text[i] != text[0]) fail(0, "%s: %c and %c", name, text[0], text[i]);
    close(file);
    struct stat status;
    if (fstatat(root, name, &status, 0) != 0) fail(errno, "stat of %s", name);
}

static void run_process(int process, void *context) {
    static const int flags[] = {O_RDONLY, O_RDWR, O_RDWR | O_CREAT};
    const struct options *options = context;
    struct random random = {options->seed * 1000003u + (uint64_t)process};
    int root = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) fail(errno, "%s", options->directory);
    for (uint64_t number = 0; number < options->operations; number++) {
        char name[16];
        snprintf(name, sizeof name, "document-%d", (int)random_below(&random, NAMES));
        if (process % 2 == 0) save(root, name, process, number);
        else look(root, name, flags[random_below(&random, 3)]);
    }
    close(root);
}

int run_replaced(const struct options *options) {
    int root = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0) fail(errno, "%s", options->directory);
    for (int i = 0; i < NAMES; i++) {
        char name[16];
        snprintf(name, sizeof name, "document-%d", i);
        save(root, name, 0, 0);
    }
    close(root);
    double start = now();
    int bad = in_processes(options->processes, run_process, (void *)options, NULL);
    printf("replaced: %d processes, %.1f s, %d ended badly\n", options->processes, now() - start, bad);
    return bad ? 1 : 0;
}
