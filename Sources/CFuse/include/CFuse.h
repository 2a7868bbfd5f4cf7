/* What Swift cannot say of libfuse3 by itself: macros, structures that libfuse keeps private, and the parts of the
 * kernel's protocol that are newer than Debian 12's libfuse 3.14 (fuse.h of Linux 6.9: passthrough, killpriv v2). */
#ifndef CFUSE_H
#define CFUSE_H

#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A libfuse session and what the INIT hook found. */
struct cfuse_session {
    struct fuse_session *session;
    void *owner;            /* the driver; borrowed */
    bool want_passthrough;  /* ask for kernel passthrough where the kernel offers it */
    bool passthrough;       /* the kernel granted it in INIT */
    bool kill_privileges;   /* FUSE_HANDLE_KILLPRIV_V2 was granted */
    uint64_t init_unique;   /* the INIT request that is being answered; 0 afterwards */
    uint32_t init_flags, init_flags2;
    uint32_t kernel_minor;  /* the kernel's protocol, 7.x; 0 before INIT */
    uint32_t library_minor; /* libfuse's */
    bool direct_mapping;    /* FUSE_DIRECT_IO_ALLOW_MMAP was granted */
    bool writeback;         /* FUSE_WRITEBACK_CACHE was granted */
    bool offered_passthrough; /* the kernel has it, whether or not it was asked for */
    /* Told of every answer, before it is sent, where it is set: for traces. */
    void (*answering)(void *owner, uint64_t unique, int32_t error, size_t length);
};

/* What the calling thread works on. A reader sets it before a request is processed; who parks the request marks it and
 * takes a copy along. */
struct cfuse_work {
    int64_t began;      /* when the request was read, CLOCK_MONOTONIC nanoseconds */
    uint32_t opcode;
    bool postponed;     /* answered later, by whomever */
    uint64_t locked[2]; /* nodes that the kernel keeps locked until it is answered; 0: none */
};

/* The calling thread's own; valid as long as it lives. */
struct cfuse_work *cfuse_current_work(void) __attribute__((returns_nonnull));

/* Makes a session. `arguments` as for fuse_session_new. NULL on failure, with libfuse's message on stderr. */
struct cfuse_session *cfuse_session_new(
    int argument_count, char *const *arguments, const struct fuse_lowlevel_ops *operations, void *owner,
    bool want_passthrough);

/* Mounts, makes the descriptor non-blocking and installs the INIT hook. 0 or -errno (-1 where libfuse says no more). */
int cfuse_session_mount(struct cfuse_session *session, const char *mountpoint);

/* Frees the session and closes its descriptor. Call after all readers have ended and the file system is unmounted. */
void cfuse_session_free(struct cfuse_session *session);

/* Has the kernel read ahead of programs that read in order by what one request can take, and not by its default of 128 KiB.
 * 0 or -errno: who may not (EACCES), and where there is no /sys (ENOENT), is read ahead of by the default. */
int cfuse_session_read_ahead(const char *mountpoint);

int cfuse_session_descriptor(struct cfuse_session *session);
size_t cfuse_session_buffer_size(void);

/* Reads one request. Bytes read, or -errno (EAGAIN: none there; ENODEV: unmounted). */
ssize_t cfuse_session_receive(struct cfuse_session *session, void *buffer, size_t size);

/* Lets the core rest for some 30 ns `times` over, without sleeping. */
static inline void cfuse_relax(int times) {
    for (int i = 0; i < times; i++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("isb" ::: "memory");
#endif
    }
}

/* Hands a request that was read to its operation. TMPFILE is handed to `create`, with the name "/". */
void cfuse_session_process(struct cfuse_session *session, void *buffer, size_t size);

/* The owner given to cfuse_session_new. */
void *cfuse_request_owner(fuse_req_t request);

/* Opens and closes a backing file for passthrough. The id (> 0) or -errno. */
int cfuse_backing_open(struct cfuse_session *session, int descriptor);
int cfuse_backing_close(struct cfuse_session *session, int backing_id);

/* Flags of an OPEN answer (FOPEN_* of the kernel's fuse.h). */
enum {
    CFUSE_OPEN_DIRECT_IO = 1 << 0,
    CFUSE_OPEN_KEEP_CACHE = 1 << 1,
    CFUSE_OPEN_CACHE_DIRECTORY = 1 << 3,
    CFUSE_OPEN_NO_FLUSH = 1 << 5,
    CFUSE_OPEN_PASSTHROUGH = 1 << 7,
};

/* Answers OPEN, and CREATE, with all of the kernel's flags. 0 or -errno (ENOENT: the caller was interrupted). */
int cfuse_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing_id);
int cfuse_reply_create(
    fuse_req_t request, const struct fuse_entry_param *entry, uint64_t handle, uint32_t flags, int32_t backing_id);

#endif
