/* Arithmetic of floats by the widest vectors of a processor: NumPy's loops for it have vectors of 16 or 32 bytes.

   IEEE 754 defines these results to the last bit, so they are NumPy's. Each loop has the address of NumPy's as its data,
   which computes what isn't dense. */

typedef struct {
    const char *name;
    char type;
    PyUFuncGenericFunction run;
} WideLoop;

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define LEFT_TO_NUMPY() ((PyUFuncGenericFunction)data)(args, dimensions, steps, NULL)

#define EACH_VECTOR(X, OP, Y)                                                                                          \
    for (; i < whole; i += sizeof(vector) / sizeof(*z)) {                                                              \
        *(vector *)(z + i) = X OP Y;                                                                                   \
    }

#define WIDE_BINARY(NAME, OP, T, BYTES, TARGET)                                                                        \
    __attribute__((target(TARGET))) static void NAME##_##T##_##BYTES(char **args, npy_intp const *dimensions,          \
                                                                     npy_intp const *steps, void *data)                \
    {                                                                                                                  \
        typedef T vector __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));                           \
        npy_intp n = dimensions[0], whole = n / (BYTES / sizeof(T)) * (BYTES / sizeof(T)), i = 0, size = sizeof(T);    \
        npy_intp dx = steps[0] / size, dy = steps[1] / size;                                                           \
        const T *x = (const T *)args[0], *y = (const T *)args[1];                                                      \
        T *z = (T *)args[2];                                                                                           \
        if (steps[2] != size || (steps[0] && steps[0] != size) || (steps[1] && steps[1] != size)) {                    \
            LEFT_TO_NUMPY();                                                                                           \
            return;                                                                                                    \
        }                                                                                                              \
        vector xs, ys;                                                                                                 \
        for (size_t k = 0; k < BYTES / sizeof(T); k++) {                                                               \
            xs[k] = *x;                                                                                                \
            ys[k] = *y;                                                                                                \
        }                                                                                                              \
        if (dx && dy) {                                                                                                \
            EACH_VECTOR(*(const vector *)(x + i), OP, *(const vector *)(y + i))                                        \
        } else if (dx) {                                                                                               \
            EACH_VECTOR(*(const vector *)(x + i), OP, ys)                                                              \
        } else if (dy) {                                                                                               \
            EACH_VECTOR(xs, OP, *(const vector *)(y + i))                                                              \
        }                                                                                                              \
        for (; i < n; i++) {                                                                                           \
            z[i] = x[i * dx] OP y[i * dy];                                                                             \
        }                                                                                                              \
    }

#define WIDE_UNARY(NAME, T, BYTES, TARGET, VALUES, VALUE)                                                              \
    __attribute__((target(TARGET))) static void NAME##_##T##_##BYTES(char **args, npy_intp const *dimensions,          \
                                                                     npy_intp const *steps, void *data)                \
    {                                                                                                                  \
        typedef T vector __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));                           \
        npy_intp n = dimensions[0], whole = n / (BYTES / sizeof(T)) * (BYTES / sizeof(T)), i = 0;                      \
        T *z = (T *)args[1];                                                                                           \
        if (steps[0] != sizeof(T) || steps[1] != sizeof(T)) {                                                          \
            LEFT_TO_NUMPY();                                                                                           \
            return;                                                                                                    \
        }                                                                                                              \
        for (; i < whole; i += sizeof(vector) / sizeof(T)) {                                                           \
            vector x = *(const vector *)((const T *)args[0] + i);                                                      \
            *(vector *)(z + i) = (vector)(VALUES);                                                                     \
        }                                                                                                              \
        for (; i < n; i++) {                                                                                           \
            T x = ((const T *)args[0])[i];                                                                             \
            z[i] = VALUE;                                                                                              \
        }                                                                                                              \
    }

/* The compiler's own function would ask whether x is negative, and say so in errno. */
#define ROOT_double _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)))
#define ROOT_float _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x)))

#define AVX512 "avx512f"
WIDE_BINARY(add, +, double, 64, AVX512)
WIDE_BINARY(add, +, float, 64, AVX512)
WIDE_BINARY(subtract, -, double, 64, AVX512)
WIDE_BINARY(subtract, -, float, 64, AVX512)
WIDE_BINARY(multiply, *, double, 64, AVX512)
WIDE_BINARY(multiply, *, float, 64, AVX512)
WIDE_BINARY(divide, /, double, 64, AVX512)
WIDE_BINARY(divide, /, float, 64, AVX512)
WIDE_UNARY(sqrt, double, 64, AVX512, _mm512_sqrt_pd((__m512d)x), ROOT_double)
WIDE_UNARY(sqrt, float, 64, AVX512, _mm512_sqrt_ps((__m512)x), ROOT_float)
WIDE_UNARY(sqrt, double, 32, "avx", _mm256_sqrt_pd((__m256d)x), ROOT_double)
WIDE_UNARY(sqrt, float, 32, "avx", _mm256_sqrt_ps((__m256)x), ROOT_float)

static const WideLoop WIDE_64[] = {
    {"add", NPY_DOUBLE, add_double_64},
    {"add", NPY_FLOAT, add_float_64},
    {"subtract", NPY_DOUBLE, subtract_double_64},
    {"subtract", NPY_FLOAT, subtract_float_64},
    {"multiply", NPY_DOUBLE, multiply_double_64},
    {"multiply", NPY_FLOAT, multiply_float_64},
    {"divide", NPY_DOUBLE, divide_double_64},
    {"divide", NPY_FLOAT, divide_float_64},
    {"sqrt", NPY_DOUBLE, sqrt_double_64},
    {"sqrt", NPY_FLOAT, sqrt_float_64},
    {NULL, 0, NULL},
};
static const WideLoop WIDE_32[] = {
    {"sqrt", NPY_DOUBLE, sqrt_double_32},
    {"sqrt", NPY_FLOAT, sqrt_float_32},
    {NULL, 0, NULL},
};

/* The loops of vectors of at most so many bytes that this processor has. */
static const WideLoop *wide_loops(int bytes)
{
    return bytes >= 64 && __builtin_cpu_supports("avx512f") ? WIDE_64 : bytes >= 32 && __builtin_cpu_supports("avx") ? WIDE_32 : NULL;
}
#else
static const WideLoop *wide_loops(int bytes)
{
    (void)bytes;
    return NULL;
}
#endif

/* Return the loop for arrays of one type by vectors of at most so many bytes; NULL if there's none. */
static PyUFuncGenericFunction find_wide(const char *name, const char *types, int nargs, int bytes)
{
    for (int i = 1; i < nargs; i++) {
        if (types[i] != types[0]) {
            return NULL;
        }
    }
    for (const WideLoop *each = wide_loops(bytes); each && each->name; each++) {
        if (each->type == types[0] && !strcmp(each->name, name)) {
            return each->run;
        }
    }
    return NULL;
}
