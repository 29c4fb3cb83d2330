# Warpbook: build, try, test. `make help` lists the targets.
MAKEFLAGS += --no-print-directory
CC       ?= gcc
BUILD    ?= build
CFLAGS   ?= -O2 -g
PREFIX   ?= /usr/local
CUDA_HOME ?= /usr/local/cuda
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla
PACKAGES := libzmq jansson uuid libsodium
CPPFLAGS += -I. -D_GNU_SOURCE $(shell pkg-config --cflags $(PACKAGES))
LDLIBS   += $(EXTRA) $(shell pkg-config --libs $(PACKAGES)) -lm -ldl -pthread
STD      := -std=c11 -ffp-contract=off -pthread -fno-math-errno
COMPILE   = $(SAY)$(CC) $(STD) $(WARN) $(CFLAGS) $(CPPFLAGS) -MMD -MP
# Says what is made; V=1 shows the commands. Where no -j was given, set-up builds on all cores.
ifndef V
.SILENT:
SAY       = $(info make: $@)
endif
CORES     = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

LIB_SRC  := $(sort $(wildcard model/*.c model/base/*.c model/ptx/*.c kernels/*.c kernels/experiments/*.c cells/*.c \
              cells/magics/*.c cells/render/*.c jupyter-kernel/handlers/*.c) \
              $(filter-out jupyter-kernel/main.c,$(wildcard jupyter-kernel/*.c)))
LESSONS  := $(sort $(wildcard kernels/*.cu kernels/experiments/*.cu))
LOGOS    := $(sort $(wildcard jupyter-kernel/logos/logo-*))
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o) $(LESSONS:%=$(BUILD)/%.o) $(LOGOS:%=$(BUILD)/%.o)
UNIT     := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/unit/test_*.c)))
FUZZ     := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
BENCH    := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard tests/bench/bench_*.c)))
SAN      := BUILD=build/asan EXTRA=build/asan/coverage.o CFLAGS="-O1 -g1 -fno-omit-frame-pointer \
              -fsanitize=address,undefined -fno-sanitize-recover=all -fsanitize-coverage=trace-pc -Wno-format-truncation"
# The same loops three times: the sanitizers, 40 s each, watch AVX2's; the fuzzers look for no path there.
$(foreach s,asan tsan,$(addprefix build/$s/model/ptx/exec_,baseline.o avx512.o)): override CFLAGS := -O1 -g0
build/asan/model/ptx/exec_avx2.o: override CFLAGS += -fno-sanitize-coverage=trace-pc
all: $(BUILD)/warpbook                ## build the kernel
$(BUILD)/warpbook: $(BUILD)/jupyter-kernel/main.o $(BUILD)/libwarpbook.a $(EXTRA)
	$(SAY)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter-out $(EXTRA),$^) $(LDLIBS)

$(BUILD)/libwarpbook.a: $(LIB_OBJ)
	@rm -f $@
	@ar rcs $@ $^

$(BUILD)/%.o: %.c | $(BUILD)/libraries
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<

$(BUILD)/model/ptx/exec_%.o: CFLAGS += -O3 -g1  # lane loops become vector instructions
$(BUILD)/model/ptx/access.o $(BUILD)/model/ptx/simt.o: CFLAGS += -O3

# A lesson's source is embedded, so that it can be printed, changed and compiled for any card.
$(BUILD)/%.cu.o: %.cu
	@mkdir -p $(@D)
	$(SAY)ld -r -b binary -z noexecstack -o $@ $<

# The kernelspec's logos, so that `install` needs nothing but the binary.
$(BUILD)/jupyter-kernel/logos/%.o: jupyter-kernel/logos/%
	@mkdir -p $(@D)
	$(SAY)ld -r -b binary -z noexecstack -o $@ $<

$(BUILD)/tests/%: tests/unit/%.c $(BUILD)/libwarpbook.a $(EXTRA)
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $< $(BUILD)/libwarpbook.a $(LDFLAGS) $(LDLIBS) -lcmocka

# The benchmarks compare with NVIDIA's cuda_occupancy.h where a CUDA Toolkit has it.
$(BUILD)/bench/%: tests/bench/%.c $(BUILD)/libwarpbook.a
	@mkdir -p $(@D)
	$(COMPILE) $(addprefix -isystem ,$(wildcard $(CUDA_HOME)/include)) -o $@ $< $(BUILD)/libwarpbook.a $(LDFLAGS) $(LDLIBS)

$(BUILD)/fuzz/%: tests/fuzz/%.c tests/fuzz/driver.c $(BUILD)/libwarpbook.a $(EXTRA)
	@mkdir -p $(@D)
	$(COMPILE) -o $@ $< tests/fuzz/driver.c $(BUILD)/libwarpbook.a $(LDFLAGS) $(LDLIBS)

$(BUILD)/coverage.o: tests/fuzz/coverage.c
	@mkdir -p $(@D)
	$(SAY)$(CC) $(STD) $(WARN) -O2 -I. -c -o $@ $<

# Names the package of a library that is missing, once, instead of a page of errors.
$(BUILD)/libraries:
	@scripts/libraries.sh $(PACKAGES) && mkdir -p $(@D) && touch $@

lab:                                  ## set up, build, open JupyterLab on notebooks/ (LAB_ARGS=…)
	@scripts/setup.sh build && $(MAKE) $(CORES) all && scripts/setup.sh lab && scripts/lab.sh $(LAB_ARGS)
demo:                                 ## set up, build, run the first lesson without a browser
	@scripts/setup.sh build && $(MAKE) $(CORES) all && scripts/setup.sh lab && scripts/demo.sh
test:                                 ## set up and pass all tests, in minutes
	@scripts/setup.sh test && .venv/bin/python scripts/test.py
test-long:                            ## the long forms too: fuzzers 60 s each, conformance under ASan
	@scripts/setup.sh test && .venv/bin/python scripts/test.py --long
bench: all $(BENCH)                   ## print the benchmark tables
	@scripts/setup.sh test && scripts/bench.sh $(BENCH)

unit: $(UNIT)                         ## C unit tests
	@for t in $(UNIT); do $$t || exit 1; done
binaries: $(UNIT) $(if $(EXTRA),$(FUZZ)) all
asan:                                 ## C unit tests under AddressSanitizer and UBSan
	@$(MAKE) $(SAN) unit
asan-binaries: ; @$(MAKE) $(SAN) binaries
fuzz: asan-binaries                   ## every fuzzer for 5 seconds
	@for f in $(FUZZ:$(BUILD)/%=build/asan/%); do $$f 5 || exit 1; done

TSAN     := test_ptx_parallel test_ptx_grid test_ptx_print test_simt
tsan:                                 ## blocks on several host threads under ThreadSanitizer
	@$(MAKE) BUILD=build/tsan LIB_SRC="$(sort $(wildcard model/*.c model/*/*.c))" LESSONS= LOGOS= \
		CFLAGS="-O1 -g -fsanitize=thread" $(TSAN:%=build/tsan/tests/%)
	@for t in $(TSAN); do TSAN_OPTIONS=halt_on_error=1 build/tsan/tests/$$t || exit 1; done

lessons: all                          ## run the lessons and README's examples, keep their outputs
	@for n in notebooks/*.ipynb; do $(BUILD)/warpbook run $$n -o $$n || exit 1; done
	@python3 scripts/readme.py

install: all                          ## install the program and its kernelspec under PREFIX
	install -D -m 755 $(BUILD)/warpbook $(DESTDIR)$(PREFIX)/bin/warpbook
	$(DESTDIR)$(PREFIX)/bin/warpbook install --prefix $(DESTDIR)$(PREFIX)
	sed -i 's|"[^"]*$(PREFIX)/bin/warpbook"|"$(PREFIX)/bin/warpbook"|' \
		$(DESTDIR)$(PREFIX)/share/jupyter/kernels/warpbook/kernel.json
format:                               ## rewrite the C sources as .clang-format says (FILES=…)
	@scripts/setup.sh lint && clang-format -i $(or $(FILES),$$(git ls-files '*.[ch]' ':!tests/data'))
lint: arrows words                    ## layout, arrows, words, clang-tidy
	@scripts/setup.sh lint && scripts/lint.sh
arrows words:                         ## who may include whom; which words no file may hold
	@scripts/$@.sh
help:                                 ## this list
	@grep -hE '^[a-z -]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 14 | sort
clean:                                ## remove what was built
	rm -rf $(BUILD)

-include $(LIB_OBJ:.o=.d) $(BUILD)/jupyter-kernel/main.d
.PHONY: all lab demo test test-long bench lessons unit binaries asan asan-binaries tsan fuzz install format lint \
        arrows words help clean
