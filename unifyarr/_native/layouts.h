/* Where natives lie in memory, told by the table of functions that DLPack has classes of arrays bring
(`__dlpack_c_exchange_api__`). The structures are DLPack's, of version 1. */

#include <stdint.h>

/* The type of a device whose memory the host reads. */
enum { ON_HOST = 1 };

typedef struct {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} Layout;

/* The functions that aren't called here make arrays of other memory. */
typedef struct {
    struct {
        uint32_t major, minor;
        void *earlier;
    } header;
    void *allocate, *export, *import;
    int (*describe)(void *native, Layout *layout);
    int (*stream)(int32_t type, int32_t id, void **stream);
} Exchange;

/* The table of a class, NULL where it has none of this version. */
static const Exchange *exchange_of(PyTypeObject *type)
{
    PyObject *capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
    const Exchange *exchange = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    Py_XDECREF(capsule);
    PyErr_Clear();
    return exchange && exchange->header.major == 1 && exchange->describe ? exchange : NULL;
}

/* Describe a native; 0 where that isn't told: it has no address, or a dtype that DLPack lacks. */
static int describe_by_exchange(const Exchange *exchange, PyObject *native, Layout *layout)
{
    if (exchange->describe(native, layout) < 0) {
        PyErr_Clear();
        return 0;
    }
    return 1;
}

/* The same by the fields of an engine's class (`fields.h`), which takes less time; 0 where they don't tell. */
static inline int describe_by_fields(PyObject *native, Layout *layout);

static inline int describe(const Exchange *exchange, PyObject *native, Layout *layout)
{
    return describe_by_fields(native, layout) || describe_by_exchange(exchange, native, layout);
}

/* Where a native lies: the first address and the one after the last. 0 where it has no elements, where several of them share
   memory, or where that isn't told. */
static int place(const Exchange *exchange, PyObject *native, Layout *layout, uintptr_t *start, uintptr_t *end)
{
    int64_t last = 0;
    if (!describe(exchange, native, layout)) {
        return 0;
    }
    for (int32_t i = 0; i < layout->ndim; i++) {
        if (!layout->shape[i] || layout->strides[i] < 0 || (!layout->strides[i] && layout->shape[i] > 1)) {
            return 0;
        }
        last += (layout->shape[i] - 1) * layout->strides[i];
    }
    *start = (uintptr_t)layout->data + layout->byte_offset;
    *end = *start + (uintptr_t)(last + 1) * ((layout->dtype.bits * layout->dtype.lanes + 7) / 8);
    return layout->data != NULL;
}

static int is_on_same_device(const Layout *one, const Layout *other)
{
    return one->device.type == other->device.type && one->device.id == other->device.id;
}

/* Whether natives have the same shape, on the same device. */
static int is_alike(const Layout *one, const Layout *other)
{
    if (one->ndim != other->ndim || !is_on_same_device(one, other)) {
        return 0;
    }
    for (int32_t i = 0; i < one->ndim; i++) {
        if (one->shape[i] != other->shape[i]) {
            return 0;
        }
    }
    return 1;
}

/* Whether natives of one shape have their elements in the same places. */
static int lie_alike(const Layout *one, const Layout *other)
{
    int are = one->dtype.bits * one->dtype.lanes == other->dtype.bits * other->dtype.lanes;
    for (int32_t i = 0; are && i < one->ndim; i++) {
        are = one->strides[i] == other->strides[i] || one->shape[i] == 1;
    }
    return are;
}

/* Whether a native lies apart from others, on their device; `by_element` says that these may also have their elements in the
   same places. */
static int may_write_beside(
    const Exchange *exchange, PyObject *native, PyObject *const *others, Py_ssize_t count, int by_element)
{
    Layout layout, other;
    uintptr_t start, end, first, last;
    int is_apart = place(exchange, native, &layout, &start, &end);
    for (Py_ssize_t i = 0; is_apart && i < count; i++) {
        is_apart = place(exchange, others[i], &other, &first, &last) && is_on_same_device(&layout, &other) &&
                   (last <= start || end <= first ||
                    (by_element && first == start && is_alike(&layout, &other) && lie_alike(&layout, &other)));
    }
    return is_apart;
}

static int lies_apart(const Exchange *exchange, PyObject *native, PyObject *const *others, Py_ssize_t count)
{
    return may_write_beside(exchange, native, others, count, 0);
}

/* Whether a kernel may read a native while it writes another one of the same shape, on the same device: they lie apart. */
static int is_beside(const Exchange *exchange, PyObject *native, const Layout *out, uintptr_t start, uintptr_t end)
{
    Layout layout;
    uintptr_t first, last;
    return place(exchange, native, &layout, &first, &last) && is_alike(&layout, out) && (last <= start || end <= first);
}
