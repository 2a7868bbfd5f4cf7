/* Load for a mounted drive that a script is too slow for: see main.c for what each program does. */
#ifndef STRESS_H
#define STRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What all programs are told on their command line. */
struct options {
    uint64_t seed;
    uint64_t operations; /* for each process; 0: until `seconds` have passed */
    double seconds;
    int processes;
    int files;    /* names in play, or entries in a directory */
    size_t size;  /* the largest file, in bytes */
    const char *directory, *against;
};

int run_contents(const struct options *options);
int run_names(const struct options *options);
int run_shared(const struct options *options);
int run_listing(const struct options *options);
int run_clients(const struct options *options);
int run_replaced(const struct options *options);
int run_killed(const struct options *options);
int run_differential(const struct options *options);

/* SplitMix64: a run can be repeated from its seed. */
struct random {
    uint64_t state;
};
uint64_t random_next(struct random *self);
/* A number below `limit`, which is 1 or more. */
uint64_t random_below(struct random *self, uint64_t limit);
void random_fill(struct random *self, void *bytes, size_t count);

double now(void);
/* Prints to stderr, with errno's text where `code` is not 0, and ends the process with 1. */
_Noreturn void fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "ENOENT" where it is known, else the number. The text lives until the next call but three. */
const char *error_name(int code);
/* Runs `work` in `count` processes, calls `begun` (or NULL) when all are there, and waits for all. Returns how many
   ended badly. */
int in_processes(int count, void (*work)(int number, void *context), void *context, void (*begun)(void));

#endif
