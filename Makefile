# Warpbook: build, try, test. `make help` lists the targets.
CC       ?= gcc
BUILD    ?= build
CFLAGS   ?= -O2 -g
WARN     := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla
PACKAGES := libzmq jansson uuid libsodium
CPPFLAGS += -I. -D_GNU_SOURCE $(shell pkg-config --cflags $(PACKAGES))
LDLIBS   += $(shell pkg-config --libs $(PACKAGES)) -lm -ldl -pthread
STD      := -std=c11 -ffp-contract=off -pthread -fno-math-errno

LIB_SRC  := $(sort $(wildcard model/*.c model/base/*.c model/ptx/*.c kernels/*.c cells/*.c \
              cells/magics/*.c cells/render/*.c jupyter-kernel/handlers/*.c) \
              $(filter-out jupyter-kernel/main.c,$(wildcard jupyter-kernel/*.c)))
LESSONS  := $(sort $(wildcard kernels/*.cu))
LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o) $(LESSONS:%.cu=$(BUILD)/%.cu.o)
UNIT     := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/unit/test_*.c)))

all: $(BUILD)/warpbook                ## build the kernel

$(BUILD)/warpbook: $(BUILD)/jupyter-kernel/main.o $(BUILD)/libwarpbook.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/libwarpbook.a: $(LIB_OBJ)
	@rm -f $@
	@ar rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(CPPFLAGS) -MMD -MP -c -o $@ $<

# A lesson's source is embedded, so that it can be printed, changed and compiled for any card.
$(BUILD)/%.cu.o: %.cu
	@mkdir -p $(@D)
	ld -r -b binary -z noexecstack -o $@ $<

$(BUILD)/tests/%: tests/unit/%.c $(BUILD)/libwarpbook.a
	@mkdir -p $(@D)
	$(CC) $(STD) $(WARN) $(CFLAGS) $(CPPFLAGS) -MMD -MP -o $@ $< $(BUILD)/libwarpbook.a $(LDLIBS) -lcmocka

unit: $(UNIT)                         ## C unit tests
	@for t in $(UNIT); do $$t || exit 1; done

help:                                 ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | sort

clean:                                ## remove what was built
	rm -rf $(BUILD)

-include $(LIB_OBJ:.o=.d) $(BUILD)/jupyter-kernel/main.d
.PHONY: all unit help clean
