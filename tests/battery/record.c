/*
 * Runs the battery on the card at hand and prints its answers: the data of
 * tests/unit/test_battery.c.
 *
 *   cc -I. -D_GNU_SOURCE -o record tests/battery/record.c -ldl -lm
 *   ./record > tests/data/battery/answers.txt
 *   ./record --values FORM   every value of the forms that begin so
 *   ./record --ptx DIR       writes the kernels instead, for ptxas
 *
 * A line a form: its types and text, then either "refused" (by the driver's compiler) or a hash of
 * all results, the digests of the cases, and values: of the first cases, or of all where the form
 * has a tolerance.
 */
#include "tests/battery/battery.h"

#include <dlfcn.h>
#include <time.h>

typedef int cu_result;
typedef unsigned long long cu_pointer;
static cu_result (*cu_init)(unsigned), (*cu_device_get)(int *, int),
    (*cu_driver_get_version)(int *);
static cu_result (*cu_device_get_name)(char *, int, int);
static cu_result (*cu_context_retain)(void **, int), (*cu_context_set)(void *);
static cu_result (*cu_module_load)(void **, const void *, unsigned, int *, void **);
static cu_result (*cu_module_unload)(void *), (*cu_module_get)(void **, void *, const char *);
static cu_result (*cu_alloc)(cu_pointer *, size_t);
static cu_result (*cu_to_device)(cu_pointer, const void *, size_t);
static cu_result (*cu_from_device)(void *, cu_pointer, size_t);
static cu_result (*cu_clear)(cu_pointer, unsigned char, size_t);
static cu_result (*cu_launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, void *, void **, void **);

static void need(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);

    if (!symbol) {
        fprintf(stderr, "record: the driver has no %s\n", name);
        exit(1);
    }
    memcpy(function, &symbol, sizeof symbol);
}

static void open_card(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
    char name[100] = "", date[32];
    int device, version = 0;
    time_t now = time(NULL);

    if (!library) {
        fprintf(stderr, "record: %s\n", dlerror());
        exit(1);
    }
    need(library, "cuInit", &cu_init);
    need(library, "cuDeviceGet", &cu_device_get);
    need(library, "cuDriverGetVersion", &cu_driver_get_version);
    need(library, "cuDeviceGetName", &cu_device_get_name);
    need(library, "cuDevicePrimaryCtxRetain", &cu_context_retain);
    need(library, "cuCtxSetCurrent", &cu_context_set);
    need(library, "cuModuleLoadDataEx", &cu_module_load);
    need(library, "cuModuleUnload", &cu_module_unload);
    need(library, "cuModuleGetFunction", &cu_module_get);
    need(library, "cuMemAlloc_v2", &cu_alloc);
    need(library, "cuMemcpyHtoD_v2", &cu_to_device);
    need(library, "cuMemcpyDtoH_v2", &cu_from_device);
    need(library, "cuMemsetD8_v2", &cu_clear);
    need(library, "cuLaunchKernel", &cu_launch);
    if (cu_init(0) || cu_device_get(&device, 0) || cu_context_retain(&context, device) ||
        cu_context_set(context)) {
        fprintf(stderr, "record: no GPU\n");
        exit(1);
    }
    cu_device_get_name(name, sizeof name, device);
    cu_driver_get_version(&version);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("# %s, driver for CUDA %d.%d, %s: tests/battery/record.c\n", name, version / 1000,
           version % 1000 / 10, date);
}

/* False when the driver's compiler refuses the kernel. */
static bool run_form(const struct battery_form *f, const char *ptx, uint64_t *out)
{
    static uint64_t in[BATTERY_CASES * BATTERY_SOURCES];
    static cu_pointer d_in, d_out, d_scratch;
    void *module, *function, *arguments[] = { &d_in, &d_out, &d_scratch };
    size_t out_bytes = BATTERY_CASES * BATTERY_RESULTS * sizeof *out;
    size_t scratch_bytes = BATTERY_CASES * BATTERY_SLOT;
    int rc;

    if (!d_in && (cu_alloc(&d_in, sizeof in) || cu_alloc(&d_out, out_bytes) ||
                  cu_alloc(&d_scratch, scratch_bytes)))
        exit(1);
    battery_operands(f, in);
    if (cu_module_load(&module, ptx, 0, NULL, NULL))
        return false;
    if (cu_module_get(&function, module, "form") || cu_to_device(d_in, in, sizeof in) ||
        cu_clear(d_out, 0, out_bytes) || cu_clear(d_scratch, 0, scratch_bytes))
        exit(1);
    rc = cu_launch(function, (unsigned)(f->cases / BATTERY_BLOCK), 1, 1, BATTERY_BLOCK, 1, 1, 0,
                   NULL, arguments, NULL);
    if (!rc)
        rc = cu_from_device(out, d_out, out_bytes);
    if (rc) { /* the context is lost with it */
        fprintf(stderr, "record: error %d in %s\n", rc, f->body);
        exit(1);
    }
    cu_module_unload(module);
    return true;
}

static void print_answers(const struct battery_form *f, const uint64_t *out, bool is_all)
{
    int shown = battery_is_exact(f) && !is_all ? BATTERY_SHOWN : f->cases;

    printf("%s\t%s\t%016llx\t", f->types, f->body, (unsigned long long)battery_hash(f, out));
    for (int k = 0; k < f->cases && battery_is_exact(f); k++)
        putchar(battery_digest(f, out, k));
    for (int k = 0; k < shown; k++)
        for (int i = 0; i < f->result_count; i++)
            printf("%c%llx", k || i ? ' ' : '\t', (unsigned long long)battery_result(f, out, k, i));
    putchar('\n');
}

int main(int argc, char **argv)
{
    static char ptx[16384];
    static uint64_t out[BATTERY_CASES * BATTERY_RESULTS];
    const char *folder = argc == 3 && !strcmp(argv[1], "--ptx") ? argv[2] : NULL;
    const char *wanted = argc == 3 && !strcmp(argv[1], "--values") ? argv[2] : NULL;
    int number = 0;

    if (!folder)
        open_card();
    for (size_t row = 0; row < sizeof BATTERY_ROWS / sizeof *BATTERY_ROWS; row++) {
        for (int c = 0; c < battery_combinations(BATTERY_ROWS[row].body); c++) {
            struct battery_form f;

            battery_form(&BATTERY_ROWS[row], c, &f);
            if (wanted && strncmp(f.body, wanted, strlen(wanted)))
                continue;
            battery_kernel(&f, ptx, sizeof ptx);
            if (folder) {
                char path[300];
                FILE *file;

                snprintf(path, sizeof path, "%s/%04d.ptx", folder, number++);
                file = fopen(path, "w");
                if (!file)
                    return 1;
                fprintf(file, "// %s\n%s", f.body, ptx);
                fclose(file);
            } else if (run_form(&f, ptx, out)) {
                print_answers(&f, out, wanted != NULL);
            } else {
                printf("%s\t%s\trefused\n", f.types, f.body);
            }
        }
    }
    return 0;
}
