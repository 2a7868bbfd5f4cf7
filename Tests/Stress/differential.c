/* Random operations by several processes on a drive and on a plain directory, compared one by one.
 *
 * Each process does its operations first on the drive, then on the plain directory; results, errors, what is read and the
 * status of what was touched must be equal. The names of a process begin with its number: in a directory of its own and
 * in two that all share, nobody else touches them, so that each outcome is defined while all run at once. Between rounds
 * all meet, fight over the same names and files (differential_shared.c), and the first compares the whole trees.
 */
#define _GNU_SOURCE
#include "differential.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUND = 1000, MOST_KINDS = 64, PAGE = 4096 };

static struct tally {
    uint64_t done[MOST_KINDS], refused[MOST_KINDS];
} *tally;
static struct shared *shared;

void describe(struct client *client, const char *format, ...) {
    char *line = client->history[client->number % HISTORY_LINES];
    char *start = strstr(line, ": ");
    if (start == NULL) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(start + 2, HISTORY_WIDTH - (size_t)(start + 2 - line), format, arguments);
    va_end(arguments);
}

int64_t settle(struct outcome *outcome, int64_t result) {
    outcome->result = result;
    outcome->code = result < 0 ? (uint64_t)errno : 0;
    return result;
}

uint64_t digest(uint64_t before, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
    uint64_t value = before ^ (count * 0x9E3779B97F4A7C15u);
    for (; count >= 8; next += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        value = (value ^ word) * 0xBF58476D1CE4E5B9u;
        value ^= value >> 29;
    }
    for (; count > 0; next++, count--) value = (value ^ *next) * 0x94D049BB133111EBu;
    return value ^ (value >> 32);
}

int64_t one_of(struct random *random, const int64_t *choices, size_t count) {
    return choices[random_below(random, count)];
}

/* Most directories have the first two names and most files the others, so that many calls meet what they are for. */
void draw_own_path(struct client *client, struct random *random, enum target target, char path[LONGEST_PATH]) {
    static const char *const names[] = {"a", "b", "c", ".d~", "\xc3\x9cn\xc3\xaf\n\\"};
    int64_t place = ONE_OF(random, 0, 0, 0, 1, 2);
    int end = place == 0 ? sprintf(path, "own-%d", client->process) : sprintf(path, place == 1 ? "shared" : "shared/deep");
    for (int64_t left = ONE_OF(random, 1, 1, 1, 2, 2, 3); left > 0; left--) {
        bool is_usual = random_below(random, 8) != 0, is_directory = left > 1 || target == DIRECTORIES;
        uint64_t name = random_below(random, 5);
        if (is_usual && is_directory) name %= 2;
        else if (is_usual && target == FILES) name = 2 + name % 3;
        end += sprintf(path + end, "/%d%s", client->process, names[name]);
        if (random_below(random, 40) == 0) {
            memset(path + end, 'x', 230);
            path[end += 230] = 0;
        }
    }
    if (random_below(random, 60) == 0) strcpy(path + end, "/");
}

static bool is_same(const struct outcome *one, const struct outcome *other) {
    return memcmp(one, other, sizeof *one) == 0;
}

static void show(const char *side, const struct outcome *outcome) {
    const struct status *of[] = {&outcome->status, &outcome->other};
    fprintf(stderr, "  %s: %lld %s digest %llx", side, (long long)outcome->result,
            outcome->code ? error_name((int)outcome->code) : "", (unsigned long long)outcome->digest);
    for (int i = 0; i < 2; i++)
        fprintf(stderr, "; mode %llo owner %llu:%llu links %llu size %llu time %lld", (unsigned long long)of[i]->mode,
                (unsigned long long)of[i]->owner, (unsigned long long)of[i]->group, (unsigned long long)of[i]->links,
                (unsigned long long)of[i]->size, (long long)of[i]->modified);
    fprintf(stderr, "\n");
}

/* Names have line ends in them, and many an x. */
static void print_line(const char *line) {
    for (; *line != 0; line++)
        if (line[0] == 'x' && line[1] == 'x' && line[2] == 'x') continue;
        else if ((uint8_t)*line < ' ') fprintf(stderr, "\\%o", *line);
        else fputc(*line, stderr);
    fputc('\n', stderr);
}

static _Noreturn void end_different(struct client *client) {
    give_up(shared);
    for (uint64_t i = client->number < HISTORY_LINES ? 0 : client->number - HISTORY_LINES + 1; i <= client->number; i++)
        print_line(client->history[i % HISTORY_LINES]);
    fail(0, "process %d: DIFFERENCE at operation %llu", client->process, (unsigned long long)client->number);
}

static void perform(struct client *client, const struct operations *kind, struct random random, int tallied) {
    struct outcome outcomes[SIDES];
    memset(outcomes, 0, sizeof outcomes);
    snprintf(client->history[client->number % HISTORY_LINES], HISTORY_WIDTH, "%llu %s: ",
             (unsigned long long)client->number, kind->name);
    for (int side = DRIVE; side < SIDES; side++) kind->perform(client, side, random, &outcomes[side]);
    tally->done[tallied]++;
    if (outcomes[PLAIN].result < 0) tally->refused[tallied]++;
    char *line = client->history[client->number % HISTORY_LINES];
    size_t length = strlen(line);
    snprintf(line + length, HISTORY_WIDTH - length, " = %lld %s", (long long)outcomes[PLAIN].result,
             outcomes[PLAIN].code ? error_name((int)outcomes[PLAIN].code) : "");
    if (is_same(&outcomes[DRIVE], &outcomes[PLAIN])) return;
    show("drive", &outcomes[DRIVE]);
    show("plain", &outcomes[PLAIN]);
    end_different(client);
}

/* What stays open has the same status and position. */
static void compare_slots(struct client *client) {
    for (int slot = 0; slot < SLOTS; slot++) {
        struct outcome outcomes[SIDES];
        memset(outcomes, 0, sizeof outcomes);
        for (int side = DRIVE; side < SIDES; side++) {
            int file = client->slots[slot][side];
            struct stat found;
            status_of(file, &outcomes[side].status);
            if (fstat(file, &found) == 0 && S_ISREG(found.st_mode)) settle(&outcomes[side], lseek(file, 0, SEEK_CUR));
        }
        if (is_same(&outcomes[DRIVE], &outcomes[PLAIN])) continue;
        show("drive", &outcomes[DRIVE]);
        show("plain", &outcomes[PLAIN]);
        fprintf(stderr, "  in slot #%d after:\n", slot);
        end_different(client);
    }
}

static const struct operations *draw_kind(struct random *random, int *tallied) {
    const struct operations *tables[] = {name_operations, content_operations};
    int total = 0, index = 0;
    for (int table = 0; table < 2; table++)
        for (const struct operations *kind = tables[table]; kind->name != NULL; kind++) total += kind->weight;
    int drawn = (int)random_below(random, (uint64_t)total);
    for (int table = 0; table < 2; table++)
        for (const struct operations *kind = tables[table]; kind->name != NULL; kind++, index++) {
            *tallied = index;
            if (drawn < kind->weight) return kind;
            drawn -= kind->weight;
        }
    abort();
}

static void make_client(struct client *client, int process, const struct options *options) {
    *client = (struct client){.process = process, .random = {options->seed * 1000003u + (uint64_t)process}};
    const char *directories[SIDES] = {options->directory, options->against};
    for (int side = DRIVE; side < SIDES; side++) {
        client->roots[side] = open(directories[side], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (client->roots[side] < 0) fail(errno, "%s", directories[side]);
        for (int slot = 0; slot < SLOTS; slot++) client->slots[slot][side] = -1;
    }
    if (pipe2(client->pipe, O_CLOEXEC | O_NONBLOCK) != 0) fail(errno, "pipe");
    client->buffer = aligned_alloc(PAGE, (MOST_BYTES / PAGE + 1) * PAGE);
    if (client->buffer == NULL) fail(ENOMEM, "buffer");
}

static void run_client(int process, void *context) {
    const struct options *options = context;
    struct client client;
    tally += process;
    make_client(&client, process, options);
    char name[20];
    snprintf(name, sizeof name, "own-%d", process);
    for (int side = DRIVE; side < SIDES; side++)
        if (mkdirat(client.roots[side], name, 0777) != 0) fail(errno, "%s", name);
    uint64_t operations = options->operations ? options->operations : 20000;
    for (uint64_t round = 0; client.number < operations; round++) {
        for (int i = 0; i < ROUND && client.number < operations; i++, client.number++) {
            int tallied;
            const struct operations *kind = draw_kind(&client.random, &tallied);
            struct random random = {random_next(&client.random)};
            perform(&client, kind, random, tallied);
            if (i % 16 == 0) compare_slots(&client);
        }
        contend(&client, shared, round);
    }
}

static void *share(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail(errno, "mmap");
    return memory;
}

int run_differential(const struct options *options) {
    double start = now();
    if (options->against == NULL) fail(0, "differential needs --against DIRECTORY");
    signal(SIGPIPE, SIG_IGN);
    umask(022);
    const char *roots[SIDES] = {options->directory, options->against};
    for (int side = DRIVE; side < SIDES; side++) {
        char path[LONGEST_PATH];
        snprintf(path, sizeof path, "%s/shared", roots[side]);
        if (mkdir(path, 0777) != 0) fail(errno, "%s", path);
        snprintf(path, sizeof path, "%s/shared/deep", roots[side]);
        if (mkdir(path, 0777) != 0) fail(errno, "%s", path);
    }
    /* One for each process. */
    struct tally *all = tally = share(sizeof *all * (size_t)options->processes);
    shared = make_shared(options->processes);
    int bad = in_processes(options->processes, run_client, (void *)options, NULL);
    const struct operations *tables[] = {name_operations, content_operations};
    uint64_t done = 0;
    for (int table = 0, index = 0; table < 2; table++)
        for (const struct operations *kind = tables[table]; kind->name != NULL; kind++, index++) {
            uint64_t count = 0, refused = 0;
            for (int i = 0; i < options->processes; i++) count += all[i].done[index], refused += all[i].refused[index];
            printf("  %-24s %9llu, %llu of them refused\n", kind->name, (unsigned long long)count, (unsigned long long)refused);
            done += count;
        }
    printf("differential: %d processes, %llu operations on each side, %.1f s, %d ended badly\n", options->processes,
           (unsigned long long)done, now() - start, bad);
    return bad ? 1 : 0;
}
