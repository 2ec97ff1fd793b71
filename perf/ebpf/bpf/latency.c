//go:build ignore

// SPDX-License-Identifier: Apache-2.0
//
// The path of sampled messages through the kernel. User space says which sockets to
// follow (flows: cookie -> the directions that it sends and receives) and which
// processes (procs). A message that is about to be written arms its direction; until
// the stream has passed the message's end, the kernel's steps are reported.
//
// Everything is filtered by socket cookie or process id first: what foreign sockets
// and threads pay is one lookup.

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#define NONE 0xffffffff
#define MAX_DIRS 4096
#define MAX_TASKS 16384
#define BUCKETS 64

#define TASK_RUNNING 0

enum kind { WRITE, SEND, READY, WAKING, RUN, RECV, PROCESSED, WAITED };
enum counter { DROPS, UNKNOWN_FLOW, FAULTS, COUNTERS };
enum span { RUN_QUEUE, UNREAD, SEND_CALL, RECV_CALL, SPANS };

// message is probe.Message.
struct message {
	__u64 flow, channel, sequence, end, start;
	__s64 stamps[4];
};

// event is what user space reads; message is there for WRITE and PROCESSED only.
struct event {
	__u32 kind, dir;
	__u64 time;  // CLOCK_MONOTONIC, ns
	__u64 enter; // SEND, RECV: when the system call began, 0: not known; RUN, WAITED: since when the thread waited
	__u32 seq;   // SEND: write_seq, READY: rcv_nxt, RECV: copied_seq
	__u32 base;  // SEND: the sequence number of the stream's byte 0
	__u32 pid, tid; // WAITED: pid is the thread that has woken it, 0: it was preempted, or woken from outside
};

struct user_event {
	struct event e;
	struct message m;
};

struct flow {
	__u32 out, in;
};

// dir is one direction of a connection; all but pending, start and base are about the bytes
// that are still to be reported.
struct dir {
	__u32 base, start, end;
	__u32 until;             // report up to here
	__u32 sent, ready, read; // reported up to here
	__u8 pending;            // a write with a sampled message is under way
	__u8 known;              // base is set
	__u8 armed;              // a message has been sampled
	__u8 unread;             // bytes are there, since since
	__u32 pid;               // of the receiver, from user space
	__u64 since;
};

struct arrival {
	__u64 time;
	__u32 dir;
	__u32 waker; // woken: the thread of the same process that did it, 0: none did
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * MAX_DIRS);
	__type(key, __u64);
	__type(value, struct flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_DIRS);
	__type(key, __u32);
	__type(value, struct dir);
} dirs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} procs SEC(".maps");

// woken is, of each thread of the processes, since when it has been waiting for a processor, 0: it
// is not, and what woke it, if it was not preempted. It is kept with the thread: no look-up in a
// table, insertion or deletion at each switch, and other threads have none.
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct arrival);
} woken SEC(".maps");

// calls are system calls that are under way, by thread.
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MAX_TASKS);
	__type(key, __u32);
	__type(value, __u64);
} calls SEC(".maps");

// last is what has become readable last on this processor: a wake-up follows within
// the same call.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct arrival);
} last SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SPANS * BUCKETS);
	__type(key, __u32);
	__type(value, __u64);
} histograms SEC(".maps");

const volatile __u8 with_events = 1;
const volatile __u8 with_histograms = 0;

const struct user_event *unused_event __attribute__((unused));

static __always_inline void count(__u32 what)
{
	__u64 *n = bpf_map_lookup_elem(&counters, &what);
	if (n)
		(*n)++;
}

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

static __always_inline void record(__u32 span, __u64 ns)
{
	__u32 i = span * BUCKETS + (log2u(ns) & (BUCKETS - 1));
	__u64 *n = bpf_map_lookup_elem(&histograms, &i);
	if (n)
		(*n)++;
}

static __always_inline bool before(__u32 a, __u32 b) { return (__s32)(a - b) < 0; }

static __always_inline void emit(__u32 kind, __u32 dir, __u64 time, __u64 enter, __u32 seq, __u32 base, __u32 tid, __u32 pid)
{
	struct event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	if (!e) {
		count(DROPS);
		return;
	}
	e->kind = kind;
	e->dir = dir;
	e->time = time;
	e->enter = enter;
	e->seq = seq;
	e->base = base;
	e->pid = pid;
	e->tid = tid;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

static __always_inline struct dir *direction(__u32 i)
{
	return i == NONE ? 0 : bpf_map_lookup_elem(&dirs, &i);
}

// waiting is a thread's wait, 0 if its process is not looked at.
static __always_inline struct arrival *waiting(struct task_struct *p)
{
	struct arrival *w = bpf_task_storage_get(&woken, p, 0, 0);
	__u32 tgid;

	if (w)
		return w;
	tgid = p->tgid;
	if (!bpf_map_lookup_elem(&procs, &tgid))
		return 0;
	return bpf_task_storage_get(&woken, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline __u64 call_began(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u64 *at = bpf_map_lookup_elem(&calls, &tid);
	return at ? *at : 0;
}

// What a program has reserved and not submitted yet holds up the reader, which spins. A thread may
// lose its processor in this program: so all is put together before there is an entry.
static __always_inline int user(struct pt_regs *ctx, __u32 kind)
{
	struct user_event u = {.e = {.kind = kind, .dir = NONE, .time = bpf_ktime_get_ns()}};
	struct flow *f;
	struct dir *d;
	__u64 id;

	if (bpf_probe_read_user(&u.m, sizeof(u.m), (void *)PT_REGS_PARM1(ctx))) {
		count(FAULTS);
		return 0;
	}
	id = bpf_get_current_pid_tgid();
	u.e.pid = id >> 32;
	u.e.tid = (__u32)id;
	f = bpf_map_lookup_elem(&flows, &u.m.flow);
	if (!f)
		count(UNKNOWN_FLOW);
	else if (kind == PROCESSED)
		u.e.dir = f->in;
	else {
		u.e.dir = f->out;
		d = direction(f->out);
		if (d && u.m.end) {
			d->start = (__u32)u.m.start;
			d->end = (__u32)u.m.end;
			d->pending = 1;
			if (d->known) {
				__u32 until = d->base + d->end;
				// what is so far behind is of another time
				if (!d->armed || before(d->until, until))
					d->until = until;
			}
			d->armed = 1;
		}
	}
	if (bpf_ringbuf_output(&events, &u, sizeof(u), BPF_RB_NO_WAKEUP))
		count(DROPS);
	return 0;
}

// One program for all points: the attach cookie says which.
SEC("uprobe.multi")
int point(struct pt_regs *ctx)
{
	return user(ctx, bpf_get_attach_cookie(ctx) ? PROCESSED : WRITE);
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(sent, struct sock *sk, int ret, int flags)
{
	__u64 cookie, began;
	struct flow *f;
	struct dir *d;
	__u32 seq;

	if (ret <= 0)
		return 0;
	cookie = bpf_get_socket_cookie(sk);
	f = bpf_map_lookup_elem(&flows, &cookie);
	if (!f)
		return 0;
	if (with_histograms) {
		began = call_began();
		if (began)
			record(SEND_CALL, bpf_ktime_get_ns() - began);
	}
	d = direction(f->out);
	if (!with_events || !d || !d->armed)
		return 0;
	seq = BPF_CORE_READ((struct tcp_sock *)sk, write_seq);
	if (d->pending) {
		d->pending = 0;
		d->base = seq - ret - d->start;
		if (!d->known) {
			d->until = d->base + d->end;
			d->sent = d->ready = d->read = d->base + d->start;
			d->known = 1;
		}
	} else if (!before(d->sent, d->until)) {
		return 0;
	}
	d->sent = seq;
	emit(SEND, f->out, bpf_ktime_get_ns(), call_began(), seq, d->base, (__u32)bpf_get_current_pid_tgid(), 0);
	return 0;
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(ready, struct sock *sk)
{
	__u64 cookie = bpf_get_socket_cookie(sk), now;
	struct arrival *a;
	struct flow *f;
	struct dir *d;
	__u32 zero = 0, seq;

	f = bpf_map_lookup_elem(&flows, &cookie);
	if (!f)
		return 0;
	d = direction(f->in);
	a = bpf_map_lookup_elem(&last, &zero);
	if (!d || !a)
		return 0;
	now = bpf_ktime_get_ns();
	a->time = now;
	a->dir = f->in;
	if (with_histograms && !d->unread) {
		d->since = now;
		d->unread = 1;
	}
	if (!with_events || !d->armed || (d->known && !before(d->ready, d->until)))
		return 0;
	seq = BPF_CORE_READ((struct tcp_sock *)sk, rcv_nxt);
	d->ready = seq;
	emit(READY, f->in, now, 0, seq, 0, 0, 0);
	return 0;
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(received, struct sock *sk, int ret, int flags)
{
	__u64 cookie, began, now;
	struct flow *f;
	struct dir *d;
	__u32 seq;

	if (ret <= 0)
		return 0;
	cookie = bpf_get_socket_cookie(sk);
	f = bpf_map_lookup_elem(&flows, &cookie);
	if (!f)
		return 0;
	d = direction(f->in);
	if (!d)
		return 0;
	now = bpf_ktime_get_ns();
	if (with_histograms) {
		began = call_began();
		if (began)
			record(RECV_CALL, now - began);
		if (d->unread)
			record(UNREAD, now - d->since);
		d->unread = 0;
	}
	if (!with_events || !d->armed || (d->known && !before(d->read, d->until)))
		return 0;
	seq = BPF_CORE_READ((struct tcp_sock *)sk, copied_seq);
	d->read = seq;
	emit(RECV, f->in, now, call_began(), seq, 0, (__u32)bpf_get_current_pid_tgid(), 0);
	return 0;
}

// A wake-up belongs to the bytes that have just become readable on this processor.
#define SAME_CALL 20000 // ns

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *p)
{
	struct arrival *w = waiting(p), *a;
	__u32 zero = 0, tgid = p->tgid;
	struct dir *d;
	__u64 by;

	if (!w)
		return 0;
	a = bpf_map_lookup_elem(&last, &zero);
	if (!a)
		return 0;
	w->time = bpf_ktime_get_ns();
	w->dir = a->time && w->time - a->time < SAME_CALL ? a->dir : NONE;
	w->waker = 0;
	d = direction(w->dir);
	if (d && d->pid == tgid)
		a->time = 0;
	else {
		w->dir = NONE;
		by = bpf_get_current_pid_tgid();
		// in an interrupt it is not current's doing, which cannot be told
		if (by >> 32 == tgid)
			w->waker = (__u32)by;
	}
	if (with_events && w->dir != NONE && d && d->armed && (!d->known || before(d->read, d->until)))
		emit(WAKING, w->dir, w->time, 0, 0, 0, p->pid, 0);
	return 0;
}

// preempted notes that a thread waits that could have gone on.
static __always_inline void preempted(struct task_struct *prev)
{
	struct arrival *w;

	if (!prev->tgid)
		return; // the idle thread
	w = waiting(prev);
	if (!w)
		return;
	w->time = bpf_ktime_get_ns();
	w->dir = NONE;
	w->waker = 0;
}

// A shorter wait for a processor is part of what the thread did.
#define SHORT_WAIT 1000 // ns

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct arrival *w;
	struct dir *d;
	__u64 now, since;

	if (preempt || prev->__state == TASK_RUNNING)
		preempted(prev);
	w = bpf_task_storage_get(&woken, next, 0, 0);
	if (!w || !w->time)
		return 0;
	now = bpf_ktime_get_ns();
	since = w->time;
	w->time = 0;
	if (with_histograms)
		record(RUN_QUEUE, now - since);
	if (!with_events)
		return 0;
	d = direction(w->dir);
	if (d && d->armed && (!d->known || before(d->read, d->until)))
		emit(RUN, w->dir, now, since, 0, 0, next->pid, w->waker);
	else if (now - since >= SHORT_WAIT)
		emit(WAITED, NONE, now, since, 0, 0, next->pid, w->waker);
	return 0;
}

// System calls, on request: every thread of the machine pays for these two.
SEC("tp_btf/sys_enter")
int BPF_PROG(entered, struct pt_regs *regs, long id)
{
	__u64 pt = bpf_get_current_pid_tgid(), now;
	__u32 tgid = pt >> 32, tid = (__u32)pt;

	if (!bpf_map_lookup_elem(&procs, &tgid))
		return 0;
	now = bpf_ktime_get_ns();
	bpf_map_update_elem(&calls, &tid, &now, BPF_ANY);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(left, struct pt_regs *regs, long ret)
{
	__u64 pt = bpf_get_current_pid_tgid();
	__u32 tgid = pt >> 32, tid = (__u32)pt;

	if (bpf_map_lookup_elem(&procs, &tgid))
		bpf_map_delete_elem(&calls, &tid);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
