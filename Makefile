# Holoscope. `make help` lists the targets; deploy/install-deps.sh installs what is missing (Debian 12).
#
# Build kinds live side by side: build/release, build/asan (address + undefined), build/tsan (threads), build/fuzz.
# Every .c under server/ is part of the program; every .c under tests/{unit,http,fault,corpus} is part of one Check
# program; tests/tools/gentrace*.c is the trace generator. There are no lists to keep.

CC      ?= gcc
JOBS    ?= $(shell nproc 2>/dev/null || echo 1)
Q       := $(if $(V),,@)# make V=1 shows the whole commands
KIND    ?= release
B       := build/$(KIND)
PREFIX  ?= /usr/local
DESTDIR ?=

PKGS    := libmicrohttpd jansson zlib sqlite3 libarchive libxxhash libsodium libpcre2-8
TPKGS   := check libcurl
# ISA-L inflates three times as fast as zlib; where Debian does not have it (32 bit), zlib is used.
ISAL    := $(shell pkg-config --exists libisal 2>/dev/null && echo 1)
PKGS    += $(if $(ISAL),libisal)

WARN    := -Wall -Wextra -Wconversion -Wshadow -Werror -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wvla
BASEFL  := -std=c17 -D_GNU_SOURCE -Iserver -I. $(WARN) -pthread -fno-strict-aliasing $(if $(ISAL),-DHS_HAVE_ISAL)
FL_release := -O2 -g
FL_asan    := -O1 -g -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=undefined,float-cast-overflow -fno-omit-frame-pointer
FL_tsan    := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
FL_fuzz    := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer
FLAGS   := $(BASEFL) $(FL_$(KIND)) $(CFLAGS)
LIBS     = $(shell pkg-config --libs $(PKGS)) -lm
TLIBS    = $(shell pkg-config --libs $(TPKGS))
INC      = $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
TINC     = $(shell pkg-config --cflags $(TPKGS) 2>/dev/null)

SRC     := $(wildcard server/*/*.c)
OBJ     := $(SRC:%.c=$(B)/%.o)
TSRC    := $(wildcard tests/unit/*.c tests/http/*.c tests/fault/*.c tests/corpus/*.c)
TOBJ    := $(TSRC:%.c=$(B)/%.o)
GSRC    := $(wildcard tests/tools/gentrace*.c)
# Files that are embedded into the program (schema, page): a change must rebuild the objects that hold them.
EMBED   := $(wildcard schema/*/*.sql schema/*.json web/*.html web/*.js web/*.css web/*.svg web/*/*.js web/*/*.css)

.PHONY: all run check check-asan check-tsan test-programs bench fuzz install format lint clean deps help
all: holoscope

help:
	@echo 'make [all]      build ./holoscope            make run         install what is missing, build, load a sample, serve'
	@echo 'make check      build and run every test     make check-asan  the same under address and undefined sanitizers'
	@echo 'make check-tsan import and HTTP under TSan   make bench       measure, printed as ratios'
	@echo 'make fuzz       60 s of the fuzz targets     make lint        format check, clang-tidy, cppcheck, house rules'
	@echo 'make install    to $$(DESTDIR)$$(PREFIX)     make format      clang-format in place'

deps:
	@deploy/install-deps.sh

holoscope: $(B)/holoscope
	@cp -f $< $@.new && mv -f $@.new $@

$(B)/holoscope: $(B)/server/main.o $(OBJ)
	@echo '  LD   $@'
	$(Q)$(CC) $(FLAGS) -o $@ $^ $(LIBS)

$(B)/tests/check: $(OBJ) $(TOBJ)
	@echo '  LD   $@'
	$(Q)$(CC) $(FLAGS) -o $@ $^ $(TLIBS) $(LIBS)

$(B)/gentrace: $(GSRC)
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(CC) -std=c17 -O2 -Wall -Wextra -Wconversion -Wshadow -Werror -o $@ $(GSRC) -lz -lm

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo '  CC   $<'
	$(Q)$(CC) $(FLAGS) $(INC) $(if $(filter tests/%,$<),$(TINC)) -MMD -MP -c -o $@ $<

$(B)/server/store/schema.o $(B)/server/http/assets.o: $(EMBED)

test-programs: $(B)/holoscope $(B)/tests/check $(B)/gentrace

# ---- running ----
run: deps
	@$(MAKE) -j$(JOBS) --no-print-directory holoscope $(B)/gentrace
	@deploy/run-sample.sh ./holoscope $(B)/gentrace

check: deps
	@$(MAKE) -j$(JOBS) --no-print-directory KIND=$(KIND) test-programs
	@tests/run.sh $(B)

check-asan: deps
	@$(MAKE) -j$(JOBS) --no-print-directory KIND=asan CC=clang test-programs
	@tests/run.sh build/asan

check-tsan: deps
	@$(MAKE) -j$(JOBS) --no-print-directory KIND=tsan CC=clang test-programs
	@tests/run.sh build/tsan tsan

bench: deps
	@$(MAKE) -j$(JOBS) --no-print-directory KIND=release test-programs
	@tests/bench/run.sh build/release

fuzz: deps
	@$(MAKE) -j$(JOBS) --no-print-directory KIND=fuzz CC=clang fuzz-programs
	@tests/fuzz/run.sh build/fuzz $(or $(FUZZ_SECONDS),60)

FUZZ := $(patsubst tests/fuzz/%.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))
.PHONY: fuzz-programs
fuzz-programs: $(FUZZ)
$(B)/fuzz_%: tests/fuzz/fuzz_%.c $(OBJ)
	@mkdir -p $(@D)
	@echo '  LD   $@'
	$(Q)$(CC) $(FLAGS) -fsanitize=fuzzer $(INC) -o $@ $^ $(LIBS)

# ---- keeping house ----
install: holoscope
	install -D -m 755 holoscope $(DESTDIR)$(PREFIX)/bin/holoscope
	install -D -m 644 config.example.toml $(DESTDIR)$(PREFIX)/share/doc/holoscope/config.example.toml
	install -D -m 644 deploy/holoscope.service $(DESTDIR)$(PREFIX)/lib/systemd/system/holoscope.service

format:
	git ls-files '*.c' '*.h' | xargs clang-format -i

lint:
	@tests/lint.sh

clean:
	rm -rf build holoscope

-include $(OBJ:.o=.d) $(TOBJ:.o=.d) $(B)/server/main.d
