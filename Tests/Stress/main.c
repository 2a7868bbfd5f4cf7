/* Load for a mounted drive, compiled because it takes millions of operations.
 *
 *   quire-stress PROGRAM [--seed N] [--operations N | --seconds N] [--processes N] [--files N] [--size BYTES]
 *                [--against DIRECTORY] DIRECTORY
 *
 *   contents  random reads, writes, mappings, holes and copies on a few files, compared with a model in memory
 *   names     processes that rename, unlink, create, link, exchange over one another in a small tree
 *   shared    the same where others work, too: what is left is looked at by whoever knows when they rest
 *   listing   a directory listed while entries come and go: what stays is seen exactly once
 *   clients   many processes at once, each with files of its own and one they share
 *   differential  the same random calls on DIRECTORY and on a plain one, by several processes at once; see differential.c
 *   replaced  documents saved by renaming over them all the time, and opened by name: always there, always whole
 *   killed    processes killed in the middle of their operations, and blocked ones interrupted
 *
 * The seed is printed; each process has its own, derived from it. The exit code is 0 when nothing differed.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(const struct options *options);
} programs[] = {
    {"contents", run_contents}, {"names", run_names},   {"shared", run_shared},
    {"listing", run_listing},   {"clients", run_clients},   {"killed", run_killed}, {"differential", run_differential},
    {"replaced", run_replaced},
};

static _Noreturn void usage(void) {
    fprintf(
        stderr,
        "usage: quire-stress contents|names|shared|listing|clients|replaced|killed|differential [--seed N]\n"
        "                    [--operations N | --seconds N] [--processes N] [--files N] [--size BYTES]\n"
        "                    [--against DIRECTORY] DIRECTORY\n");
    exit(64);
}

int main(int count, char **arguments) {
    struct options options = {.processes = 1};
    bool has_seed = false;
    if (count < 3) usage();
    for (int i = 2; i < count; i++) {
        const char *name = arguments[i];
        if (name[0] != '-') {
            if (options.directory != NULL) usage();
            options.directory = name;
            continue;
        }
        if (++i == count) usage();
        if (strcmp(name, "--against") == 0) {
            options.against = arguments[i];
            continue;
        }
        char *end;
        double value = strtod(arguments[i], &end);
        if (*end != 0 || value < 0) usage();
        if (strcmp(name, "--seed") == 0) options.seed = (uint64_t)value, has_seed = true;
        else if (strcmp(name, "--operations") == 0) options.operations = (uint64_t)value;
        else if (strcmp(name, "--seconds") == 0) options.seconds = value;
        else if (strcmp(name, "--processes") == 0) options.processes = (int)value;
        else if (strcmp(name, "--files") == 0) options.files = (int)value;
        else if (strcmp(name, "--size") == 0) options.size = (size_t)value;
        else usage();
    }
    if (options.directory == NULL || options.processes < 1) usage();
    if (!has_seed) options.seed = (uint64_t)time(NULL) * 1000 + (uint64_t)getpid() % 1000;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (strcmp(programs[i].name, arguments[1]) != 0) continue;
        printf("%s: seed %llu\n", arguments[1], (unsigned long long)options.seed);
        return programs[i].run(&options);
    }
    usage();
}
