package ebpf

// The compiled programs are committed, so that nobody needs clang to build. They are
// made with clang 14 (TestProgramsAreCurrent compares).
//
//go:generate go tool -modfile=../../tools/go.mod bpf2go -go-package ebpf -cc clang-14 -target amd64,arm64 -type user_event latency bpf/latency.c -- -O2 -Wall -Werror
//go:generate go tool -modfile=../../tools/go.mod bpf2go -go-package ebpf -cc clang-14 -target amd64,arm64 -type place -type total sched bpf/sched.c -- -O2 -Wall -Werror
