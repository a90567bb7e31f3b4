/* What is told of one collective: its type, size and formulas. */
#include "analysis/collective.h"

#include <string.h>

/* In this order: "allreduce" before "reduce", "sendrecv" before "send". */
static const struct {
    const char *part;
    enum hs_collective_type type;
} parts[] = {
    {"allreduce", HS_COLL_ALLREDUCE},
    {"crossdevicereduce", HS_COLL_ALLREDUCE},
    {"reducescatter", HS_COLL_REDUCESCATTER},
    {"allgather", HS_COLL_ALLGATHER},
    {"alltoall", HS_COLL_ALLTOALL},
    {"broadcast", HS_COLL_BROADCAST},
    {"barrier", HS_COLL_BARRIER},
    {"sendrecv", HS_COLL_SENDRECV},
    {"send", HS_COLL_SEND},
    {"recv", HS_COLL_RECV},
    {"reduce", HS_COLL_REDUCE},
    {"gather", HS_COLL_GATHER},
    {"scatter", HS_COLL_SCATTER},
};

const char *hs_collective_word(enum hs_collective_type t)
{
    static const char *const words[HS_COLL_TYPES] = {"unknown",   "allreduce", "reducescatter", "allgather", "alltoall",
                                                     "broadcast", "barrier",   "sendrecv",      "send",      "recv",
                                                     "reduce",    "gather",    "scatter"};
    return words[t];
}

enum hs_collective_type hs_collective_type_of(struct hs_str name)
{
    char plain[129];
    size_t n = 0;
    for (size_t i = 0; i < name.n && n < sizeof plain - 1 && name.p[i] != '('; i++) {
        char c = name.p[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (c >= 'a' && c <= 'z')
            plain[n++] = c;
    }
    plain[n] = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(plain, parts[i].part))
            return parts[i].type;
    return HS_COLL_UNKNOWN;
}

bool hs_collective_is_p2p(enum hs_collective_type t)
{
    return t == HS_COLL_SEND || t == HS_COLL_RECV || t == HS_COLL_SENDRECV;
}

bool hs_collective_is_full(enum hs_collective_type t)
{
    return t == HS_COLL_ALLREDUCE || t == HS_COLL_REDUCESCATTER || t == HS_COLL_ALLGATHER || t == HS_COLL_ALLTOALL ||
           t == HS_COLL_BARRIER;
}

double hs_collective_bus_factor(enum hs_collective_type t, int64_t n)
{
    if (n < 2)
        return 0;
    double d = (double)n;
    switch (t) {
    case HS_COLL_ALLREDUCE: return 2 * (d - 1) / d;
    case HS_COLL_REDUCESCATTER:
    case HS_COLL_ALLGATHER:
    case HS_COLL_ALLTOALL: return (d - 1) / d;
    case HS_COLL_BROADCAST:
    case HS_COLL_REDUCE:
    case HS_COLL_SEND:
    case HS_COLL_RECV: return 1;
    default: return 0;
    }
}

int64_t hs_dtype_bytes(struct hs_str dtype)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } sizes[] = {
        {"Float", 4},          {"BFloat16", 2},       {"Half", 2},          {"Double", 8},      {"Int", 4},
        {"Long", 8},           {"Short", 2},          {"Char", 1},          {"Byte", 1},        {"Bool", 1},
        {"float", 4},          {"double", 8},         {"c10::BFloat16", 2}, {"c10::Half", 2},   {"int", 4},
        {"long", 8},           {"long int", 8},       {"unsigned char", 1}, {"signed char", 1}, {"bool", 1},
        {"float32", 4},        {"bfloat16", 2},       {"float16", 2},       {"int64", 8},       {"int32", 4},
        {"ComplexFloat", 8},   {"ComplexDouble", 16}, {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1}, {"Float8_e4m3fnuz", 1},
        {"Float8_e5m2fnuz", 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (hs_str_is(dtype, sizes[i].name))
            return sizes[i].bytes;
    return 0;
}
