/* The corpus of odd inputs: per entry a file under files/ (or bytes made at run time) and the right answer, argued by hand
 * next to it. `quality` is the whole of it, so that nothing is counted that should not be.
 *
 * An entry is checked by corpus_check: whole, and once more in pieces of a few bytes through gzip. */
#ifndef HS_TESTS_CORPUS_H
#define HS_TESTS_CORPUS_H

#include "ingest/import.h"

enum corpus_fact_kind {
    FACT_END,
    FACT_TS,       /* event i: ts in ns */
    FACT_DUR,      /* event i: dur in ns, as written */
    FACT_NAME,     /* event i: name, byte for byte */
    FACT_JSON,     /* event i: given back as this text */
    FACT_PARENT,   /* event i nests in, or was launched by, event v; -1 none */
    FACT_STEP,     /* event i: number of its step; -1 none */
    FACT_KERNELS,  /* call that is event i: device rows it launched */
    FACT_GPU,      /* device rows */
    FACT_STREAM,   /* device row i: stream */
    FACT_DEVICE,   /* device row i: device */
    FACT_CLASS,    /* device row i: hs_class */
    FACT_GPU_DUR,  /* device row i: dur in ns */
    FACT_BUSY,     /* ns the devices work, each nanosecond once */
    FACT_COMM,     /* ns of communication kernels */
    FACT_OPS,      /* CPU operators */
    FACT_STEPS,    /* steps */
    FACT_END_AT,   /* last_end in ns */
    FACT_BASE,     /* baseTimeNanoseconds */
    FACT_PID,      /* event i: its pid is the integer v */
    FACT_TID,      /* event i: its tid is the integer v */
    FACT_PID_TEXT, /* event i: its pid is this text */
    FACT_TID_TEXT, /* event i: its tid is this text */
    FACT_THREAD,   /* event i: name of its thread */
    FACT_HEADER,   /* header member i: its JSON text */
    FACT_WORLD     /* world size */
};

struct corpus_fact {
    enum corpus_fact_kind kind;
    int i;
    int64_t v;
    struct hs_str s;
};
#define N_(kind, i, v)         \
    {                          \
        FACT_##kind, (i), (v), \
        {                      \
            0, 0               \
        }                      \
    }
#define S_(kind, i, text)             \
    {                                 \
        FACT_##kind, (i), 0,          \
        {                             \
            "" text, sizeof(text) - 1 \
        }                             \
    }

struct corpus_entry {
    const char *file;
    int rc;           /* hs_status of the import */
    const char *says; /* rc != 0: a word that its sentence must have */
    int events;
    int rank;
    const char *quality; /* of what is counted, as JSON, complete */
    struct corpus_fact facts[12];
};

char *corpus_path(const char *file);                                  /* free() */
struct hs_buf corpus_read(const char *file);                          /* hs_buf_free */
void corpus_check(const struct corpus_entry *e, struct hs_str bytes); /* bytes as imported */
void corpus_check_file(const struct corpus_entry *e);
/* Imports in memory; the view must be there. Close with hs_view_close. */
struct hs_view *corpus_view(const char *file);

/* Entries register here, so that a file without one is noticed. */
extern const struct corpus_entry corpus_documents[], corpus_texts[], corpus_numbers[], corpus_events[];
extern const size_t corpus_ndocuments, corpus_ntexts, corpus_nnumbers, corpus_nevents;

#endif
