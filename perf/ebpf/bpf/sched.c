//go:build ignore

// SPDX-License-Identifier: Apache-2.0
//
// How long threads of some processes wait for a processor (run queue), and where they
// were when they gave it up (off CPU). All is counted in the kernel.

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#define MAX_TASKS 16384
#define BUCKETS 64
#define TASK_RUNNING 0

struct wait {
	__u64 time;
	__u32 preempted;
	__s32 stack;
};

struct place {
	__u32 pid;
	__s32 stack; // negative: none
	__u32 preempted;
};

struct total {
	__u64 ns, count;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} procs SEC(".maps");

// queued are threads that could run but do not.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_TASKS);
	__type(key, __u32);
	__type(value, __u64);
} queued SEC(".maps");

// off are threads that do not run.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_TASKS);
	__type(key, __u32);
	__type(value, struct wait);
} off SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, BUCKETS);
	__type(key, __u32);
	__type(value, __u64);
} run_queue SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_TASKS);
	__type(key, struct place);
	__type(value, struct total);
} places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, MAX_TASKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 127 * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

const volatile __u8 with_stacks = 0;

const struct place *unused_place __attribute__((unused));
const struct total *unused_total __attribute__((unused));

static __always_inline __u32 log2u(__u64 v)
{
	__u32 r = 0;
	if (v >> 32) { v >>= 32; r += 32; }
	if (v >> 16) { v >>= 16; r += 16; }
	if (v >> 8) { v >>= 8; r += 8; }
	if (v >> 4) { v >>= 4; r += 4; }
	if (v >> 2) { v >>= 2; r += 2; }
	return r + (v >> 1);
}

static __always_inline void bump(void *map, __u32 i)
{
	__u64 *n = bpf_map_lookup_elem(map, &i);
	if (n)
		(*n)++;
}

static __always_inline bool ours(struct task_struct *t)
{
	__u32 tgid = BPF_CORE_READ(t, tgid);
	return bpf_map_lookup_elem(&procs, &tgid) != 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(queue_waking, struct task_struct *p)
{
	__u32 tid;
	__u64 now;

	if (with_stacks || !ours(p))
		return 0;
	tid = BPF_CORE_READ(p, pid);
	now = bpf_ktime_get_ns();
	bpf_map_update_elem(&queued, &tid, &now, BPF_NOEXIST);
	return 0;
}

static __always_inline void leave(void *ctx, bool preempt, struct task_struct *prev, __u64 now)
{
	bool runnable = preempt || BPF_CORE_READ(prev, __state) == TASK_RUNNING;
	__u32 tid = BPF_CORE_READ(prev, pid);
	struct wait w = {.time = now, .preempted = runnable};

	if (!with_stacks) {
		if (runnable)
			bpf_map_update_elem(&queued, &tid, &now, BPF_ANY);
		return;
	}
	w.stack = bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK);
	bpf_map_update_elem(&off, &tid, &w, BPF_ANY);
}

static __always_inline void add(struct task_struct *next, struct wait *w, __u64 ns)
{
	struct place at = {.pid = BPF_CORE_READ(next, tgid), .stack = w->stack, .preempted = w->preempted};
	struct total *t = bpf_map_lookup_elem(&places, &at), first = {};

	if (!t) {
		if (bpf_map_update_elem(&places, &at, &first, BPF_NOEXIST))
			bump(&lost, 0);
		t = bpf_map_lookup_elem(&places, &at);
		if (!t)
			return;
	}
	__sync_fetch_and_add(&t->ns, ns);
	__sync_fetch_and_add(&t->count, 1);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(queue_switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now = bpf_ktime_get_ns(), *since;
	__u32 tid = BPF_CORE_READ(next, pid);
	struct wait *w;

	if (ours(prev))
		leave(ctx, preempt, prev, now);
	if (!with_stacks) {
		since = bpf_map_lookup_elem(&queued, &tid);
		if (since) {
			bump(&run_queue, log2u(now - *since) & (BUCKETS - 1));
			bpf_map_delete_elem(&queued, &tid);
		}
		return 0;
	}
	w = bpf_map_lookup_elem(&off, &tid);
	if (w) {
		add(next, w, now - w->time);
		bpf_map_delete_elem(&off, &tid);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
