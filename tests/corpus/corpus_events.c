/* Events: ids, phases, args, launches, streams, steps, communication. In µs unless written otherwise. */
#include "tests/corpus/corpus.h"

#define CPU "\"no-gpu\":1,\"no-steps\":1}"
#define GPU_ALONE ",\"no-cpu\":1,\"no-steps\":1}"

const struct corpus_entry corpus_events[] = {
    /* ---- ids ---- */
    /* the writer's own span holds no call tree; "" and "stream 7" are ids like others */
    {"string_pid.json",
     0,
     0,
     3,
     0,
     "{" CPU,
     {S_(PID_TEXT, 0, "Spans"), S_(TID_TEXT, 0, "PyTorch Profiler"), S_(PID_TEXT, 2, ""), S_(TID_TEXT, 2, "stream 7"),
      N_(PARENT, 1, -1), N_(END_AT, 0, 4000), N_(OPS, 0, 2)}},
    {"pid_minus1.json",
     0,
     0,
     2,
     0,
     "{" CPU,
     {N_(PID, 0, -1), N_(PID, 1, 0), N_(PARENT, 1, -1)}}, /* not GPU 0's process */
    {"tid_64bit.json",
     0,
     0,
     3,
     0,
     "{" CPU,
     {N_(TID, 0, 140589156634432), N_(PARENT, 1, 0), N_(TID, 2, 140589156634433), N_(PARENT, 2, -1)}},
    {"late_metadata.json", 0, 0, 4, 0, "{" CPU, {S_(THREAD, 0, "last")}},

    /* ---- phases ---- */
    /* both ends of 5 have their start; 6 and "0x1f" have none */
    {"orphan_flows.json",
     0,
     0,
     5,
     0,
     "{\"orphan-flow\":2,\"no-gpu\":1,\"no-cpu\":1,\"no-steps\":1}",
     {S_(JSON, 4,
         "{\"ph\":\"f\",\"id\":\"0x1f\",\"pid\":0,\"tid\":7,\"ts\":11,\"cat\":\"ac2g\",\"name\":\"ac2g\",\"bp\":"
         "\"e\"}")}},
    {"empty_counter_key.json",
     0,
     0,
     2,
     0,
     "{\"no-gpu\":1,\"no-cpu\":1,\"no-steps\":1}",
     {S_(JSON, 0,
         "{\"ph\":\"C\",\"name\":\"power\",\"pid\":\"GPU 0 Counters\",\"tid\":0,\"ts\":1.5,\"args\":{\"\":12.5}}")}},
    /* b in a, ended without a name; then a; "zz" closes nothing; c ends with its lane (last ends at 20), so last is in c */
    {"BE_unmatched.json",
     0,
     0,
     7,
     0,
     "{\"unmatched-begin\":1,\"unmatched-end\":1," CPU,
     {N_(PARENT, 1, 0), N_(PARENT, 6, 5), N_(PARENT, 5, -1), N_(OPS, 0, 4), N_(END_AT, 0, 20000)}},
    {"async_pairs.json",
     0,
     0,
     4,
     0,
     "{\"unmatched-begin\":1,\"no-gpu\":1,\"no-cpu\":1,\"no-steps\":1}",
     {N_(PARENT, 1, -1)}},
    {"memory_event.json",
     0,
     0,
     2,
     0,
     "{" CPU,
     {S_(JSON, 1,
         "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":1,\"tid\":1,\"ts\":2,"
         "\"args\":"
         "{\"Total Reserved\":0,\"Total Allocated\":512,\"Bytes\":512,\"Addr\":140000000000000,\"Device "
         "Id\":-1,\"Device Type\":0}}")}},
    {"missing_parts.json",
     0,
     0,
     3,
     0,
     "{\"missing-ph\":1,\"missing-name\":1," CPU,
     {S_(NAME, 1, ""), N_(OPS, 0, 1), N_(END_AT, 0, 11000)}}, /* without a category it is still a span of its thread */

    /* ---- args ---- */
    {"args_array.json",
     0,
     0,
     2,
     0,
     "{\"bad-args\":2," CPU,
     {S_(JSON, 1,
         "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":2,\"args\":\"{\\\"x\\\":"
         "1}\"}")}},
    {"args_null.json",
     0,
     0,
     1,
     0,
     "{\"bad-args\":1," CPU,
     {S_(JSON, 0,
         "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"args\":null}")}},
    {"no_args.json", 0, 0, 1, 0, "{" CPU, {N_(OPS, 0, 1)}},
    {"nested_occupancy.json",
     0,
     0,
     1,
     0,
     "{\"kernel-without-launch\":1" GPU_ALONE,
     {S_(JSON, 0,
         "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":5,\"args\":{\"device\":"
         "0,\"stream\":7,"
         "\"correlation\":1,\"grid\":[128,1,1],\"est. achieved occupancy "
         "%\":31,\"occupancy\":{\"blockLimitRegs\":2147483647,"
         "\"limits\":[1, 2]}}}")}},

    /* ---- device work ---- */
    /* the second k is the first one again; other starts while k runs */
    {"dup_kernels.json",
     0,
     0,
     4,
     0,
     "{\"duplicate-event\":1,\"stream-overlap\":1,\"graph-launch\":1,\"no-steps\":1}",
     {N_(GPU, 0, 2), N_(KERNELS, 0, 2), N_(BUSY, 0, 5000)}},
    /* programmatic dependent launch: [10,20) and [18,28) are 18 µs of work time */
    {"pdl_overlap.json", 0, 0, 4, 0, "{\"stream-overlap\":1,\"no-steps\":1}", {N_(BUSY, 0, 18000), N_(GPU, 0, 2)}},
    /* four kernels of 25 µs, 10 apart, on one stream: durations that cannot be; the union is [0,55) */
    {"rocm_overflow.json",
     0,
     0,
     4,
     0,
     "{\"stream-overlap\":3,\"kernel-without-launch\":4" GPU_ALONE,
     {N_(BUSY, 0, 55000)}},
    {"gpu_annotation.json",
     0,
     0,
     4,
     0,
     "{}",
     {N_(GPU, 0, 1), N_(BUSY, 0, 30000), N_(STEPS, 0, 1), N_(STEP, 3, 3),
      N_(STEP, 1, -1)}}, /* it covers the kernel by a nanosecond on both sides and is no work, and no step */
    {"sync_tid_offset.json",
     0,
     0,
     3,
     0,
     "{\"kernel-without-launch\":1,\"no-steps\":1}",
     {N_(GPU, 0, 1), N_(PARENT, 1, 0), N_(BUSY, 0, 5000)}}, /* the wait belongs to its call, and is no work */
    {"cuda_event_rows.json", 0, 0, 2, 0, "{\"kernel-without-launch\":1" GPU_ALONE, {N_(GPU, 0, 1), N_(BUSY, 0, 5000)}},
    {"wait_on_later_record.json", 0, 0, 2, 0, "{\"kernel-without-launch\":1" GPU_ALONE, {N_(GPU, 0, 1)}},
    {"rocm_stream0.json",
     0,
     0,
     2,
     0,
     "{\"no-steps\":1}",
     {N_(STREAM, 0, 0), N_(KERNELS, 0, 1)}}, /* "0x0" of the call joins it not */
    {"hip_stream_64bit.json", 0, 0, 1, 0, "{\"kernel-without-launch\":1" GPU_ALONE, {N_(STREAM, 0, 94651374305280)}},
    {"gpu_only.json", 0, 0, 2, 0, "{\"kernel-without-launch\":2" GPU_ALONE, {N_(GPU, 0, 2), N_(BUSY, 0, 10000)}},
    {"cpu_only.json", 0, 0, 2, 0, "{\"no-gpu\":1}", {N_(GPU, 0, 0), N_(STEP, 1, 1), N_(PARENT, 1, 0)}},

    /* ---- threads ---- */
    /* [1,11) holds [5,11.2): 0.2 over; [20,30) does not hold [25,34) */
    {"child_past_parent.json",
     0,
     0,
     4,
     0,
     "{\"child-overrun\":1,\"partial-overlap\":1," CPU,
     {N_(PARENT, 1, 0), N_(PARENT, 3, -1)}},

    /* ---- launches ---- */
    {"graph_1_to_N.json",
     0,
     0,
     4,
     0,
     "{\"graph-launch\":1,\"no-steps\":1}",
     {N_(KERNELS, 0, 3), N_(PARENT, 1, 0), N_(PARENT, 2, 0), N_(PARENT, 3, 0), N_(BUSY, 0, 15000)}},
    {"corr_zero.json",
     0,
     0,
     2,
     0,
     "{\"kernel-without-launch\":1,\"no-steps\":1}",
     {N_(PARENT, 1, -1), N_(KERNELS, 0, -1)}},
    {"corr_text.json", 0, 0, 2, 0, "{\"text-number\":2,\"no-steps\":1}", {N_(PARENT, 1, 0), N_(KERNELS, 0, 1)}},
    /* two records of one HIP launch: the later one counts, and neither is a launch without a kernel */
    {"shared_corr.json",
     0,
     0,
     3,
     0,
     "{\"shared-correlation\":1,\"no-steps\":1}",
     {N_(PARENT, 2, 1), N_(KERNELS, 1, 1), N_(KERNELS, 0, 0)}},
    /* External id 5 of the operator is no correlation 5 */
    {"extid_collides_corr.json",
     0,
     0,
     4,
     0,
     "{\"kernel-without-launch\":1,\"no-steps\":1}",
     {N_(PARENT, 2, -1), N_(PARENT, 3, 1), N_(PARENT, 1, 0)}},
    /* launches while a graph is captured run nothing; begin and end of the capture are no launches */
    {"graph_capture.json", 0, 0, 4, 0, "{\"launch-without-kernel\":2," CPU, {N_(KERNELS, 1, 0)}},
    /* correlation 1 in both ranks, device 0 and stream 7 too: each kernel belongs to its own rank's call; as one device
     * they overlap in [10,14) */
    {"merged_ranks.json",
     0,
     0,
     6,
     0,
     "{\"stream-overlap\":1,\"merged-ranks\":2,\"no-steps\":1}",
     {N_(PARENT, 4, 2), N_(PARENT, 5, 3), N_(KERNELS, 2, 1), N_(KERNELS, 3, 1)}},
    /* a data loader's process beside the training's is no second rank */
    {"several_processes.json", 0, 0, 4, 0, "{\"no-steps\":1}", {N_(PARENT, 3, 2), N_(PARENT, 2, 1)}},
    {"legacy_profiler.json",
     0,
     0,
     5,
     0,
     "{\"kernel-without-launch\":1,\"no-steps\":1}",
     {N_(OPS, 0, 2), N_(GPU, 0, 1), N_(DEVICE, 0, 1), N_(PARENT, 1, 0)}},

    /* ---- steps ---- */
    {"no_steps.json", 0, 0, 3, 0, "{\"no-steps\":1}", {N_(STEPS, 0, 0), N_(STEP, 0, -1)}},
    {"step_star.json", 0, 0, 2, 0, "{" CPU, {N_(STEPS, 0, 0), N_(STEP, 1, -1)}},
    /* a starts in 7 and runs into 8, twice a partial overlap: with step 7's row, then with step 8's; b starts where 8 does;
     * the kernel runs after both, and belongs to its launch's step */
    {"steps.json",
     0,
     0,
     6,
     0,
     "{\"partial-overlap\":2}",
     {N_(STEPS, 0, 2), N_(STEP, 2, 7), N_(STEP, 3, 8), N_(STEP, 5, 8), N_(KERNELS, 4, 1)}},

    /* ---- communication ---- */
    {"comm_no_meta.json",
     0,
     0,
     3,
     0,
     "{\"kernel-without-launch\":3" GPU_ALONE,
     {N_(CLASS, 0, HS_CLASS_COMM), N_(CLASS, 1, HS_CLASS_COMM), N_(CLASS, 2, HS_CLASS_COMPUTE), N_(COMM, 0, 10000)}},
    {"comm_meta.json",
     0,
     0,
     1,
     0,
     "{\"kernel-without-launch\":1" GPU_ALONE,
     {N_(CLASS, 0, HS_CLASS_COMM)}}, /* its args say so */
    {"comm_meta_on_cpu_only.json",
     0,
     0,
     4,
     0,
     "{\"kernel-without-launch\":1,\"no-steps\":1}",
     {N_(CLASS, 0, HS_CLASS_COMM), N_(CLASS, 1, HS_CLASS_COMM), N_(PARENT, 2, 1)}}, /* by its operator; by its name */
    {"edge_collectives_0.json", 0, 0, 3, 0, "{\"kernel-without-launch\":3" GPU_ALONE, {N_(COMM, 0, 15000)}},
    {"edge_collectives_1.json",
     0,
     0,
     2,
     1,
     "{\"kernel-without-launch\":2" GPU_ALONE,
     {N_(COMM, 0, 10000)}}, /* one fewer: its window is shorter */

    /* ---- ranks ---- */
    {"rank_text.json", 0, 0, 1, 5, "{" CPU, {N_(WORLD, 0, 8)}},
    {"rank_minus1.json",
     0,
     0,
     1,
     0,
     "{" CPU,
     {N_(WORLD, 0, 1)}}, /* -1 is no rank, nor does the name tell one: the order */
    {"rank_in_args.json",
     0,
     0,
     1,
     5,
     "{" CPU,
     {S_(JSON, 0,
         "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"args\":{\"rank\":9}"
         "}")}},
    {"repeat2_first.json", 0, 0, 1, 0, "{" CPU, {N_(TS, 0, 1000)}},
    {"repeat2_second.json", 0, 0, 1, 0, "{" CPU, {N_(TS, 0, 1001000)}},
};
const size_t corpus_nevents = sizeof corpus_events / sizeof *corpus_events;
