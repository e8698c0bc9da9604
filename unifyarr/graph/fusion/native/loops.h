/* Loops of the machine's own, with the signature of NumPy's: copies, choices by a mask, and changes of dtype. */

/* A choice of elements is one of their bits: the size is all that matters. */
typedef struct {
    uint64_t halves[2];
} bits128;

#define LOOP2(A, B, VALUE)                                                                                             \
    do {                                                                                                               \
        npy_intp n = dimensions[0], sa = steps[0], sb = steps[1];                                                      \
        char *pa = args[0], *pb = args[1];                                                                             \
        if (sa == sizeof(A) && sb == sizeof(B)) {                                                                      \
            /* Dense memory, which the compiler vectorises. */                                                         \
            const A *xs = (const A *)pa;                                                                               \
            B *ys = (B *)pb;                                                                                           \
            for (npy_intp i = 0; i < n; i++) {                                                                         \
                A x = xs[i];                                                                                           \
                ys[i] = VALUE;                                                                                         \
            }                                                                                                          \
        } else if (!sa && sb == sizeof(B)) {                                                                           \
            A x = *(const A *)pa;                                                                                      \
            B y = VALUE;                                                                                               \
            for (npy_intp i = 0; i < n; i++) {                                                                         \
                ((B *)pb)[i] = y;                                                                                      \
            }                                                                                                          \
        } else {                                                                                                       \
            for (npy_intp i = 0; i < n; i++, pa += sa, pb += sb) {                                                     \
                A x = *(const A *)pa;                                                                                  \
                *(B *)pb = VALUE;                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

static void copy_loop(char **args, npy_intp const *dimensions, npy_intp const *steps, void *data)
{
    if (steps[0] == (intptr_t)data && steps[1] == steps[0]) {
        memmove(args[1], args[0], (size_t)(dimensions[0] * steps[0]));
        return;
    }
    switch ((intptr_t)data) {
    case 1: LOOP2(uint8_t, uint8_t, x); break;
    case 2: LOOP2(uint16_t, uint16_t, x); break;
    case 4: LOOP2(uint32_t, uint32_t, x); break;
    case 8: LOOP2(uint64_t, uint64_t, x); break;
    default: LOOP2(bits128, bits128, x); break;
    }
}

#define LOOP_WHERE(T)                                                                                                  \
    do {                                                                                                               \
        npy_intp n = dimensions[0], sm = steps[0], sa = steps[1], sb = steps[2], sc = steps[3];                        \
        char *pm = args[0], *pa = args[1], *pb = args[2], *pc = args[3];                                               \
        if (sm == 1 && sc == sizeof(T) && (sa == sizeof(T) || !sa) && (sb == sizeof(T) || !sb)) {                      \
            if (sa && sb) {                                                                                            \
                for (npy_intp i = 0; i < n; i++) {                                                                     \
                    T a = ((T *)pa)[i], b = ((T *)pb)[i];                                                              \
                    ((T *)pc)[i] = pm[i] ? a : b;                                                                      \
                }                                                                                                      \
            } else if (sa) {                                                                                           \
                T b = *(T *)pb;                                                                                        \
                for (npy_intp i = 0; i < n; i++) {                                                                     \
                    T a = ((T *)pa)[i];                                                                                \
                    ((T *)pc)[i] = pm[i] ? a : b;                                                                      \
                }                                                                                                      \
            } else if (sb) {                                                                                           \
                T a = *(T *)pa;                                                                                        \
                for (npy_intp i = 0; i < n; i++) {                                                                     \
                    T b = ((T *)pb)[i];                                                                                \
                    ((T *)pc)[i] = pm[i] ? a : b;                                                                      \
                }                                                                                                      \
            } else {                                                                                                   \
                T a = *(T *)pa, b = *(T *)pb;                                                                          \
                for (npy_intp i = 0; i < n; i++) {                                                                     \
                    ((T *)pc)[i] = pm[i] ? a : b;                                                                      \
                }                                                                                                      \
            }                                                                                                          \
        } else {                                                                                                       \
            for (npy_intp i = 0; i < n; i++, pm += sm, pa += sa, pb += sb, pc += sc) {                                 \
                *(T *)pc = *pm ? *(T *)pa : *(T *)pb;                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

static void where_loop(char **args, npy_intp const *dimensions, npy_intp const *steps, void *data)
{
    switch ((intptr_t)data) {
    case 1: LOOP_WHERE(uint8_t); break;
    case 2: LOOP_WHERE(uint16_t); break;
    case 4: LOOP_WHERE(uint32_t); break;
    case 8: LOOP_WHERE(uint64_t); break;
    default: LOOP_WHERE(bits128); break;
    }
}

/* Casts, for the pairs that loops.py allows: what C defines, NumPy does so. */

typedef struct {
    float real, imag;
} complex64;

typedef struct {
    double real, imag;
} complex128;

typedef unsigned char boolean;

#define CAST(A, B, VALUE)                                                                                              \
    static void A##_to_##B(char **args, npy_intp const *dimensions, npy_intp const *steps, void *data)                 \
    {                                                                                                                  \
        (void)data;                                                                                                    \
        LOOP2(A, B, VALUE);                                                                                            \
    }
#define CASTS_OF_REAL(A)                                                                                               \
    CAST(A, boolean, x != 0)                                                                                           \
    CAST(A, float, (float)x)                                                                                           \
    CAST(A, double, (double)x)                                                                                         \
    CAST(A, complex64, ((complex64){(float)x, 0}))                                                                     \
    CAST(A, complex128, ((complex128){(double)x, 0}))
#define CASTS_OF_INTEGER(A)                                                                                            \
    CASTS_OF_REAL(A)                                                                                                   \
    CAST(A, int8_t, (int8_t)x)                                                                                         \
    CAST(A, uint8_t, (uint8_t)x)                                                                                       \
    CAST(A, int16_t, (int16_t)x)                                                                                       \
    CAST(A, uint16_t, (uint16_t)x)                                                                                     \
    CAST(A, int32_t, (int32_t)x)                                                                                       \
    CAST(A, uint32_t, (uint32_t)x)                                                                                     \
    CAST(A, int64_t, (int64_t)x)                                                                                       \
    CAST(A, uint64_t, (uint64_t)x)
CASTS_OF_INTEGER(int8_t)
CASTS_OF_INTEGER(uint8_t)
CASTS_OF_INTEGER(int16_t)
CASTS_OF_INTEGER(uint16_t)
CASTS_OF_INTEGER(int32_t)
CASTS_OF_INTEGER(uint32_t)
CASTS_OF_INTEGER(int64_t)
CASTS_OF_INTEGER(uint64_t)
CASTS_OF_REAL(float)
CASTS_OF_REAL(double)
CAST(complex64, boolean, x.real != 0 || x.imag != 0)
CAST(complex64, complex64, x)
CAST(complex64, complex128, ((complex128){x.real, x.imag}))
CAST(complex128, boolean, x.real != 0 || x.imag != 0)
CAST(complex128, complex64, ((complex64){(float)x.real, (float)x.imag}))
CAST(complex128, complex128, x)

/* From bool, as from the integer it is. */
#define FROM_REAL(C, A)                                                                                                \
    {C "?", A##_to_boolean}, {C "f4", A##_to_float}, {C "f8", A##_to_double}, {C "c8", A##_to_complex64},              \
        {C "c16", A##_to_complex128}
#define FROM_INTEGER(C, A)                                                                                             \
    FROM_REAL(C, A), {C "i1", A##_to_int8_t}, {C "u1", A##_to_uint8_t}, {C "i2", A##_to_int16_t},                      \
        {C "u2", A##_to_uint16_t}, {C "i4", A##_to_int32_t}, {C "u4", A##_to_uint32_t}, {C "i8", A##_to_int64_t},      \
        {C "u8", A##_to_uint64_t}

static const struct {
    const char *name;
    PyUFuncGenericFunction run;
} OWN_LOOPS[] = {
    {"copy", copy_loop},
    {"where", where_loop},
    FROM_INTEGER("cast ?", uint8_t),
    FROM_INTEGER("cast i1", int8_t),
    FROM_INTEGER("cast u1", uint8_t),
    FROM_INTEGER("cast i2", int16_t),
    FROM_INTEGER("cast u2", uint16_t),
    FROM_INTEGER("cast i4", int32_t),
    FROM_INTEGER("cast u4", uint32_t),
    FROM_INTEGER("cast i8", int64_t),
    FROM_INTEGER("cast u8", uint64_t),
    FROM_REAL("cast f4", float),
    FROM_REAL("cast f8", double),
    {"cast c8?", complex64_to_boolean},
    {"cast c8c8", complex64_to_complex64},
    {"cast c8c16", complex64_to_complex128},
    {"cast c16?", complex128_to_boolean},
    {"cast c16c8", complex128_to_complex64},
    {"cast c16c16", complex128_to_complex128},
    {NULL, NULL},
};
