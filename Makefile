# make build           the release programs: the command and, beside it, all that it does not do by itself
# make test            all tests; installs what they need
# make mount           build and mount the drive   [MOUNTPOINT=~/Drive] [QUIRE_HOME=~/.local/share/quire]
# make unmount         end it
# make install         the programs, mount helper, manual pages, completions, service   [PREFIX=/usr/local] [DESTDIR=]
# make uninstall       take them away again
# make bench           the mount beside a bare directory, passthrough_ll and bindfs, against the targets
#                      [OUTPUT=FILE] [BENCH="--on tmpfs --rounds 5 …": see quire-bench --help]
# make bench-transfers documents up and down, beside rclone, at SeaweedFS and lighttpd   [TRANSFERS="--small 1000 --large 5"]
# make conformance     each call and each of its errors, on drives and on the bare file system   [WAYS="bare user …"]
# make stress          random content, names, listings, clients and kills, ten times as long as in make test
#                      [TIMES=10] [SEED=N]
# make fuzz            random query expressions   [INPUTS=1000000]
# make soak            mixed load on two devices with samples of memory, descriptors and threads   [MINUTES=30] [SEED=N]
# make tsan            the driver's tests and programs on mounted drives under the thread sanitizer
# make check           formatting, imports, links and examples in the documents
# make format          format the sources
# make docs            check the documents, regenerate the manual page
# make thumbnails-sheet  pictures of documents of each kind, as a device shows them that has none of their content
#                      [OUTPUT=.build/thumbnails.png]
# make test-providers  the tests of providers, with Apache, lighttpd, nginx, sabre/dav (also as a stand-in for
#                      Nextcloud), rclone, SeaweedFS and moto as servers
#                      [SERVERS=apache,nginx]
# make test-ceph       the same with Ceph's RADOS Gateway, which takes 300 MB to install and is not part of CI
# make test-convergence  three devices at a server in bad weather, with a ledger of all that they wrote  [OPERATIONS=10000] [SERVERS=apache]

SWIFT ?= swift
comma := ,
QUIRE = .build/release/quire
PREFIX ?= /usr/local
# Tests at one time: many wait for files and sockets, and the pool they share has a thread for each core only.
TEST_WIDTH = SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4
SWIFT_FILES = Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Daemon

.PHONY: build test tsan stress fuzz soak mount unmount install uninstall bench bench-transfers conformance check format docs thumbnails-sheet test-providers test-ceph test-convergence deps test-deps bench-deps

# With the Swift libraries inside: what is installed runs without the toolchain.
build: deps
	$(SWIFT) build -c release --product quire-main --static-swift-stdlib
	$(SWIFT) build -c release --product quire --static-swift-stdlib

test: test-deps
	$(SWIFT) build --build-tests
	Scripts/failures-last env $(TEST_WIDTH) $(SWIFT) test --skip-build --skip EndToEndTests
	Scripts/failures-last $(SWIFT) test --skip-build --filter EndToEndTests

tsan: test-deps
	Scripts/thread-sanitizer $(SWIFT)

# The release build under load, the tests in debug.
ENDURANCE = QUIRE_BINARY="$(CURDIR)/$(QUIRE)" $(if $(SEED),QUIRE_SEED=$(SEED)) $(SWIFT) test --skip-build --filter
stress: build test-deps
	$(SWIFT) build --build-tests
	QUIRE_STRESS=$(or $(TIMES),10) $(ENDURANCE) StressTests

fuzz: deps
	QUIRE_FUZZ_INPUTS=$(or $(INPUTS),1000000) $(SWIFT) test --filter QueryLanguageTests/fuzz

soak: build test-deps
	$(SWIFT) build --build-tests
	QUIRE_SOAK_MINUTES=$(or $(MINUTES),30) $(ENDURANCE) SoakTests

mount: build
	$(QUIRE) mount $(if $(QUIRE_HOME),--home "$(QUIRE_HOME)") $(if $(MOUNTPOINT),"$(MOUNTPOINT)")

install: build
	Scripts/install $(QUIRE) "$(DESTDIR)" "$(PREFIX)"

uninstall:
	Scripts/install --remove "$(DESTDIR)" "$(PREFIX)"

unmount:
	$(QUIRE) unmount $(if $(QUIRE_HOME),--home "$(QUIRE_HOME)")

bench: bench-deps build
	$(SWIFT) run -c release quire-daemon-bench --quire $(QUIRE) $(if $(findstring --check,$(BENCH)),--check)
	$(SWIFT) run -c release --package-path Benchmarks quire-bench --quire $(QUIRE) $(if $(OUTPUT),--markdown "$(OUTPUT)") $(BENCH)
	$(MAKE) bench-transfers

# The servers and what they keep on tmpfs, too.
bench-transfers: bench-deps build
	TMPDIR=/dev/shm Tests/Servers/run lighttpd,seaweedfs Benchmarks/transfers --quire $(QUIRE) $(TRANSFERS)

conformance: test-deps build
	Scripts/conformance $(QUIRE) $(WAYS)

# The command starts in a millisecond, and not in ten.
WITHOUT_FOUNDATION = Sources/quire Sources/QuireCommandLine Sources/QuireCore

check: deps
	$(SWIFT) format lint --strict --recursive $(SWIFT_FILES)
	Scripts/check-docs
	! grep -rl 'import Foundation' $(WITHOUT_FOUNDATION)
	$(SWIFT) build --explicit-target-dependency-import-check error

format:
	$(SWIFT) format --in-place --recursive $(SWIFT_FILES)

docs: build
	Scripts/check-docs
	Scripts/manual-page $(QUIRE) > Packaging/quire.1

thumbnails-sheet: test-deps build
	Scripts/thumbnails-sheet $(QUIRE) $(or $(OUTPUT),.build/thumbnails.png)

# The servers are installed where they are missing, and listen on loopback only.
test-providers: test-deps
	$(SWIFT) build --build-tests
	Scripts/failures-last env $(TEST_WIDTH) Tests/Servers/run $(or $(SERVERS),all) \
		Scripts/test-side-by-side $(SWIFT) "QuireProvidersTests|WeatherTests" \
		"EndToEnd/(Server|SecretService|UploadKill)Tests|Endurance/ClockTests"

test-ceph:
	$(MAKE) test-providers SERVERS=ceph

# Three devices at a server in bad weather, with a ledger.
test-convergence: test-deps
	$(SWIFT) build --build-tests
	Scripts/failures-last env $(if $(OPERATIONS),QUIRE_CONVERGENCE_OPERATIONS=$(OPERATIONS)) \
		Tests/Servers/run $(or $(SERVERS),apache$(comma)seaweedfs) \
		$(SWIFT) test --skip-build --filter EndToEnd/AccountConvergenceTests

deps test-deps bench-deps:
	@Scripts/install-missing $@
