/* What the parts of the differential run share: a client that does each operation on both sides. */
#ifndef DIFFERENTIAL_H
#define DIFFERENTIAL_H

#include "stress.h"

#include <sys/stat.h>

enum { DRIVE, PLAIN, SIDES, SLOTS = 8, LONGEST_PATH = 1024, HISTORY_LINES = 40, HISTORY_WIDTH = 700, MOST_BYTES = 70000 };

/* What of a file's status must be equal on both sides. */
struct status {
    uint64_t mode, owner, group, links, size;
    int64_t modified; /* a time that the run itself has set; 0: a later one, of the clock */
};

/* What came of an operation on one side; every byte of it is compared. */
struct outcome {
    int64_t result;
    uint64_t code; /* errno where `result` is -1 */
    uint64_t digest; /* of what was read, listed or asked for */
    struct status status, other;
};

/* One process and its files. All names that it uses begin with its own number, wherever they are. */
struct client {
    int process;
    int roots[SIDES];
    int slots[SLOTS][SIDES]; /* descriptors that stay open across other operations; -1: none */
    int pipe[2];
    struct random random;
    uint64_t number;
    uint8_t *buffer; /* page aligned, of MOST_BYTES at the least */
    bool was_refused; /* by FUSE itself: see `op_fallocate` */
    char history[HISTORY_LINES][HISTORY_WIDTH];
};

/* Draws what it does from `random`, a copy, so that both sides get the same. */
typedef void operation(struct client *client, int side, struct random random, struct outcome *outcome);
struct operations {
    const char *name;
    int weight;
    operation *perform;
};
extern const struct operations name_operations[], content_operations[]; /* ended by a NULL */

/* Tells what is about to be done, for the history. */
__attribute__((format(printf, 2, 3))) void describe(struct client *client, const char *format, ...);
/* Notes a call's result, and errno where it is -1; returns it. */
int64_t settle(struct outcome *outcome, int64_t result);
/* A path below the side's root that nobody else uses, most likely of such a target. */
enum target { ANYTHING, FILES, DIRECTORIES };
void draw_own_path(struct client *client, struct random *random, enum target target, char path[LONGEST_PATH]);
/* The status of what `path` names, links not followed; its error goes into `mode`. */
void status_at(int root, const char *path, struct status *status);
void status_of(int descriptor, struct status *status);
uint64_t digest(uint64_t before, const void *bytes, size_t count);
/* One of the given numbers. */
#define ONE_OF(random, ...) \
    one_of(random, (const int64_t[]){__VA_ARGS__}, sizeof(int64_t[]){__VA_ARGS__} / sizeof(int64_t))
int64_t one_of(struct random *random, const int64_t *choices, size_t count);

/* Many processes at once on what they share, where each side's outcome is defined; differential_shared.c. */
struct shared;
struct shared *make_shared(int processes);
/* Waits for all; false when one has ended with a difference. */
bool meet_all(struct shared *shared);
void give_up(struct shared *shared);
/* Each process takes part; the first of them looks at what came of it. */
void contend(struct client *client, struct shared *shared, uint64_t round);
/* NULL, or what differs. */
const char *compare_trees(int drive, int plain, const char *path);

#endif
