/*
 * Snapshots with credit, barriers that overtake, aborts and crashes.
 *
 *   source 0 ── out 0 ─ link ─ in 0 ──┐
 *   source 1 ── out 1 ─ link ─ in 1 ──┴─ receiver ── out N ─ link ─ in N ── sink
 *
 * Edge e has a queue at its sender (out), a link that moves records while it has
 * credit, and a queue at its receiver (in). Records are 4*source + number, and each
 * source numbers its own 1..M. The state of the receiver and of the sink is how many
 * records of each source they have processed, so processing asserts at once that none is
 * lost, repeated or out of order. README.md says how to run it and with which sizes.
 */
#define ALIGNED   0
#define UNALIGNED 1
#define AUTO      2
#ifndef MODE
#define MODE UNALIGNED
#endif
#ifndef N
#define N 2 /* sources; up to 3 */
#endif
#ifndef M
#define M 2 /* records of each; up to 3 */
#endif
#ifndef Q
#define Q 2 /* records in an output queue */
#endif
#ifndef C
#define C 1 /* buffers, and so credits, of a channel at its receiver */
#endif
#define IDS 2 /* checkpoints in all */
#ifndef FLIGHT
#define FLIGHT 2 /* in flight at once */
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef ABORTS
#define ABORTS 1 /* besides those that a later checkpoint subsumes */
#endif

#define E   (N + 1)
#define LEN (N * M + 2)
#define R   0 /* the receiver */
#define K   1 /* the sink */

#define REC(x)       ((x) > 0 && (x) < 16)
#define BAR(id, pri) (16 + 2 * (id) + (pri))
#define ISPRI(x)     ((x) > 16 && ((x) & 1))
#define BID(x)       (((x) - 16) / 2)
#define BIT(i)       (1 << (i))

#define LO(m)      ((m) == R -> 0 : N) /* input edges of a member: LO to HI - 1 */
#define HI(m)      ((m) == R -> N : E)
#define RD(m, id)  ((m) * IDS + (id) - 1)
#define SV(id, s)  ((id) * N + (s))
#define CP(id, e)  ((id) * E + (e))

typedef List { byte v[LEN]; byte n };

List out[E], in[E], rep[E]; /* rep: captured records that are still to be replayed */
byte load[E];               /* records in out */
byte credit[E] = C, given[E]; /* credit at the sender, and on its way there */
byte pos[N], cnt[2 * N];    /* of sources, and of receiver and sink by source */

/* Rounds of receiver and sink. A channel is blocked by a round that is OPEN and does not
   wait for it. */
#define FRESH   0
#define OPEN    1
#define STARTED 2
#define DONE    3
#define DEAD    4
byte st[2 * IDS], wait[2 * IDS], last[E];
byte sst[N * IDS]; /* the same of the sources */

/* What checkpoints hold; 0 is the beginning. */
byte savePos[(IDS + 1) * N], saveR[(IDS + 1) * N], saveK[(IDS + 1) * N];
List capIn[(IDS + 1) * E], capOut[(IDS + 1) * E];

/* The coordinator. Triggers and aborts are bits by id, on their way to a member:
   sources are 0..N-1, then the receiver and the sink. */
byte next = 1, complete, flying, crashes, aborts;
byte trig[N], newest[N], dead[N + 2];

hidden byte a, b, c, d, f, g, h, i, j, k, p, q, x;

inline add(l, y) { l.v[l.n] = y; l.n++ }
inline del(l, at) {
    j = at;
    do :: j + 1 < l.n -> l.v[j] = l.v[j + 1]; j++ :: else -> break od;
    l.n--; l.v[l.n] = 0
}
inline ins(l, at, y) {
    j = l.n;
    do :: j > at -> l.v[j] = l.v[j - 1]; j-- :: else -> break od;
    l.v[at] = y; l.n++
}
inline clear(l) { do :: l.n > 0 -> l.n--; l.v[l.n] = 0 :: else -> break od }
inline append(l, from) {
    k = 0;
    do :: k < from.n -> add(l, from.v[k]); k++ :: else -> break od
}
/* where is y in l? l.n if nowhere */
inline find(l, y, at) {
    at = 0;
    do :: at < l.n && l.v[at] != y -> at++ :: else -> break od
}

/* Passing puts a barrier in front of the records before position at of an output queue,
   but behind other barriers, and captures what it passes. */
inline pass(id, e, at) {
    a = at;
#ifdef M_PASS
    do :: a > 0 -> a-- :: else -> break od;
#else
    do :: a > 0 && REC(out[e].v[a - 1]) -> a-- :: else -> break od;
#endif
    b = a;
    do
    :: b < at && REC(out[e].v[b]) ->
#ifndef M_OUT
        add(capOut[CP(id, e)], out[e].v[b]);
#endif
        b++
    :: b < at && !REC(out[e].v[b]) -> b++
    :: else -> break
    od;
    ins(out[e], a, BAR(id, 1))
}

/* captured takes the records among the first at items of an input queue. */
inline captured(id, e, at) {
    b = 0;
#ifdef M_DROP
    b = 1;
#endif
    do
    :: b < at && b < in[e].n && REC(in[e].v[b]) -> add(capIn[CP(id, e)], in[e].v[b]); b++
    :: b < at && b < in[e].n && !REC(in[e].v[b]) -> b++
    :: else -> break
    od
}

inline snap(m, id) {
    c = 0;
    do
    :: c < N && m == R -> saveR[SV(id, c)] = cnt[c]; c++
    :: c < N && m == K -> saveK[SV(id, c)] = cnt[N + c]; c++
    :: else -> break
    od
}

/* begin snapshots a member and sends its barrier on. */
inline begin(m, id, over) {
    st[RD(m, id)] = STARTED;
#ifndef M_LATE
    snap(m, id);
#endif
    d = LO(m);
    do
    :: over && d < HI(m) ->
#ifndef M_REPLAY
        append(capIn[CP(id, d)], rep[d]);
#endif
        d++
    :: else -> break
    od;
    if
    :: m == R && over -> pass(id, N, out[N].n)
    :: m == R && !over -> add(out[N], BAR(id, 0))
    :: else
    fi
}

inline finish(m, id) {
    if
    :: wait[RD(m, id)] == 0 ->
        if :: st[RD(m, id)] == OPEN -> begin(m, id, 0) :: else fi;
        st[RD(m, id)] = DONE;
#ifdef M_LATE
        snap(m, id);
#endif
    :: else
    fi
}

/* kill forgets what a member has of a checkpoint. */
inline kill(m, id) {
    st[RD(m, id)] = DEAD; wait[RD(m, id)] = 0;
    d = LO(m);
    do :: d < HI(m) -> clear(capIn[CP(id, d)]); d++ :: else -> break od;
    if :: m == R -> clear(capOut[CP(id, N)]) :: else fi;
    c = 0;
    do
    :: c < N && m == R -> saveR[SV(id, c)] = 0; c++
    :: c < N && m == K -> saveK[SV(id, c)] = 0; c++
    :: else -> break
    od
}

/* promote takes the queued barriers of a checkpoint that has started. */
inline promote(m, id) {
    f = LO(m);
    do
    :: f < HI(m) ->
        find(in[f], BAR(id, 0), h);
        if
        :: (wait[RD(m, id)] & BIT(f)) && h < in[f].n ->
            del(in[f], h);
            last[f] = id;
            captured(id, f, h);
            wait[RD(m, id)] = wait[RD(m, id)] & ~BIT(f)
        :: else
        fi;
        f++
    :: else -> break
    od;
    finish(m, id)
}

/* turn makes a round unaligned, and those before it. */
inline turn(m, id) {
    g = 1;
    do
    :: g < id ->
        if :: st[RD(m, g)] == OPEN -> begin(m, g, 1); promote(m, g) :: else fi;
        g++
    :: else -> break
    od;
    if :: st[RD(m, id)] == OPEN -> begin(m, id, 1) :: else fi
}

inline passed(m, id, yes) {
    yes = 0; f = LO(m);
    do
    :: f < HI(m) -> if :: last[f] > id -> yes = 1 :: else fi; f++
    :: else -> break
    od
}

/* arrive takes a barrier that came after the first at items that are queued. */
inline arrive(m, e, id, over, at) {
    assert(id > last[e] || !(flying & BIT(id))); /* none that counts comes late */
    if
    :: id > last[e] ->
        last[e] = id;
        g = 1;
        do
        :: g < id ->
            if
            :: (st[RD(m, g)] == OPEN || st[RD(m, g)] == STARTED) && (wait[RD(m, g)] & BIT(e)) -> kill(m, g)
            :: else
            fi;
            g++
        :: else -> break
        od;
        passed(m, id, h);
        if
        :: st[RD(m, id)] == FRESH && h -> kill(m, id)
        :: st[RD(m, id)] == FRESH && !h -> st[RD(m, id)] = OPEN; wait[RD(m, id)] = BIT(HI(m)) - BIT(LO(m))
        :: else
        fi;
        if
        :: st[RD(m, id)] != DEAD ->
            if :: over -> turn(m, id) :: else fi;
            wait[RD(m, id)] = wait[RD(m, id)] & ~BIT(e);
            if
            :: st[RD(m, id)] == STARTED ->
#ifdef M_EXTRA
                captured(id, e, at + 1)
#else
                captured(id, e, at)
#endif
            :: else
            fi;
            finish(m, id)
        :: else
        fi
    :: else
    fi
}

inline process(m, y) {
    assert((y & 3) == cnt[m * N + (y >> 2)] + 1); /* not lost, not again, in order */
    cnt[m * N + (y >> 2)]++;
    if :: m == R -> add(out[N], y); load[N]++ :: else fi
}

inline count(e) {
    a = 0; b = 0;
    do :: a < in[e].n -> b = b + REC(in[e].v[a]); a++ :: else -> break od;
    assert(credit[e] + given[e] + b == C) /* credit is neither lost nor made */
}

#ifdef M_BLOCK
#define BLOCKED(m, e) 0
#else
#define BLOCKED(m, e) ((st[RD(m, 1)] == OPEN && !(wait[RD(m, 1)] & BIT(e))) || \
                       (st[RD(m, 2)] == OPEN && !(wait[RD(m, 2)] & BIT(e))))
#endif
#define ROOM(m) (m == K || load[N] < Q)
#if N == 1
#define REPLAYED(m) (m == R -> rep[0].n == 0 : rep[N].n == 0)
#elif N == 2
#define REPLAYED(m) (m == R -> rep[0].n + rep[1].n == 0 : rep[N].n == 0)
#else
#define REPLAYED(m) (m == R -> rep[0].n + rep[1].n + rep[2].n == 0 : rep[N].n == 0)
#endif
#ifdef M_REPLAY
#define MAYALIGN(m) 1
#else
#define MAYALIGN(m) REPLAYED(m)
#endif

#ifdef LATE_CREDIT /* it takes its time to the sender */
#define GIVE(e) given[e]++
#else
#define GIVE(e) credit[e]++
#endif

/* What a member does with an input edge. */
inline take(m, e) { /* the next record */
    d_step {
        in[e].n > 0 && REC(in[e].v[0]) && !BLOCKED(m, e) && REPLAYED(m) && ROOM(m) ->
        x = in[e].v[0];
        del(in[e], 0);
        GIVE(e);
#ifdef M_CREDIT
        GIVE(e);
#endif
        q = 1;
        do
        :: q <= IDS ->
            if
            :: st[RD(m, q)] == STARTED && (wait[RD(m, q)] & BIT(e)) -> add(capIn[CP(q, e)], x)
            :: else
            fi;
            q++
        :: else -> break
        od;
        process(m, x);
        count(e); x = 0
    }
}
inline replay(m, e) {
    d_step {
        rep[e].n > 0 && ROOM(m) ->
        x = rep[e].v[0];
        del(rep[e], 0);
        process(m, x); x = 0
    }
}
inline barrier(m, e) { /* an ordered barrier whose turn it is */
    d_step {
        in[e].n > 0 && in[e].v[0] > 16 && !ISPRI(in[e].v[0]) && !BLOCKED(m, e) && MAYALIGN(m) ->
        x = in[e].v[0];
        del(in[e], 0);
        i = BID(x);
        arrive(m, e, i, 0, 0); x = 0
    }
}
#define PRI(e, at) (in[e].n > at && ISPRI(in[e].v[at]))
inline overtaken(m, e) { /* a barrier that has overtaken: at any time; those before it come along */
    d_step {
        PRI(e, 0) || PRI(e, 1) || PRI(e, 2) ->
        p = 0;
        do :: !ISPRI(in[e].v[p]) -> p++ :: else -> break od;
        x = in[e].v[p];
        del(in[e], p);
        find(in[e], BAR(1, 0), q);
        if
        :: BID(x) == 2 && q < p ->
            del(in[e], q);
            p--;
            arrive(m, e, 1, 1, q)
        :: else
        fi;
        i = BID(x);
        arrive(m, e, i, 1, p); x = 0
    }
}
/* The timeout of a round that is open or announced: at any time, but barriers that have
   overtaken and are here go first. */
#ifdef M_HASTY
#define FIRST(e) 0
#else
#define FIRST(e) (PRI(e, 0) || PRI(e, 1) || PRI(e, 2))
#endif
#if N == 1
#define URGENT(m) (m == R -> FIRST(0) : FIRST(N))
#elif N == 2
#define URGENT(m) (m == R -> FIRST(0) || FIRST(1) : FIRST(N))
#else
#define URGENT(m) (m == R -> FIRST(0) || FIRST(1) || FIRST(2) : FIRST(N))
#endif
inline expire(m, id) {
    d_step {
        MODE == AUTO && (st[RD(m, id)] == OPEN || st[RD(m, id)] == FRESH) && !URGENT(m) ->
        i = 1;
        do /* all that is queued is announced */
        :: i <= id ->
            passed(m, i, h);
            g = LO(m);
            do
            :: st[RD(m, i)] == FRESH && !h && g < HI(m) ->
                find(in[g], BAR(i, 0), c);
                if
                :: c < in[g].n && last[g] < i -> st[RD(m, i)] = OPEN; wait[RD(m, i)] = BIT(HI(m)) - BIT(LO(m))
                :: else
                fi;
                g++
            :: else -> break
            od;
            i++
        :: else -> break
        od;
        if :: st[RD(m, id)] == OPEN -> turn(m, id); promote(m, id) :: else fi;
        skip
    }
}
#define HAS(l, y) ((l.n > 0 && l.v[0] == y) || (l.n > 1 && l.v[1] == y) || (l.n > 2 && l.v[2] == y) || (l.n > 3 && l.v[3] == y))
inline hasten(e, id, alive) { /* the timeout of an ordered barrier at its sender: at any time */
    d_step {
        MODE == AUTO && HAS(out[e], BAR(id, 0)) && (alive) ->
        find(out[e], BAR(id, 0), p);
        del(out[e], p);
        pass(id, e, p);
#ifdef M_ACK /* what the member holds is written already */
        clear(capOut[CP(id, e)]);
#endif
        skip
    }
}
#define LEFT(e, id) (MODE != AUTO || !HAS(out[e], BAR(id, 0)))
inline aborted(m, id) {
    d_step {
        (dead[N + m] & BIT(id)) ->
        dead[N + m] = dead[N + m] & ~BIT(id);
        if :: st[RD(m, id)] != DEAD -> kill(m, id) :: else fi;
        skip
    }
}

inline triggered(s, id) {
    d_step {
        (trig[s] & BIT(id)) && !(id == 2 && (trig[s] & BIT(1))) -> /* commands come in order */
        trig[s] = trig[s] & ~BIT(id);
        if
        :: sst[s * IDS + id - 1] == FRESH && id > newest[s] ->
            newest[s] = id;
            sst[s * IDS + id - 1] = DONE;
            savePos[SV(id, s)] = pos[s];
            if
            :: MODE == UNALIGNED -> pass(id, s, out[s].n)
            :: else -> add(out[s], BAR(id, 0))
            fi
        :: else
        fi
    }
}
inline forget(s, id) {
    d_step {
        (dead[s] & BIT(id)) && !(trig[s] & BIT(id)) ->
        dead[s] = dead[s] & ~BIT(id);
        sst[s * IDS + id - 1] = DEAD;
        savePos[SV(id, s)] = 0; clear(capOut[CP(id, s)]); skip
    }
}

active [N] proctype Source() {
end:
    do
    :: d_step { pos[_pid] < M && load[_pid] < Q -> pos[_pid]++; add(out[_pid], 4 * _pid + pos[_pid]); load[_pid]++ }
    :: triggered(_pid, 1)
    :: triggered(_pid, 2)
    :: forget(_pid, 1)
    :: forget(_pid, 2)
    :: hasten(_pid, 1, sst[_pid * IDS] == DONE)
    :: hasten(_pid, 2, sst[_pid * IDS + 1] == DONE)
    od
}

inline link(e) {
    d_step {
        out[e].n > 0 && (!REC(out[e].v[0]) || credit[e] > 0) ->
        x = out[e].v[0];
        del(out[e], 0);
        add(in[e], x);
        if :: REC(x) -> credit[e]--; load[e]-- :: else fi;
        count(e); x = 0
    }
}
inline grant(e) { d_step { given[e] > 0 -> credit[e] = credit[e] + given[e]; given[e] = 0 } }

active proctype Links() {
end:
    do
    :: link(0) :: grant(0)
    :: link(1) :: grant(1)
#if N > 1
    :: link(2) :: grant(2)
#endif
#if N > 2
    :: link(3) :: grant(3)
#endif
    od
}

#define INPUT(m, e) \
    :: take(m, e) :: replay(m, e) :: barrier(m, e) :: overtaken(m, e)

active proctype Receiver() {
end:
    do
    INPUT(R, 0)
#if N > 1
    INPUT(R, 1)
#endif
#if N > 2
    INPUT(R, 2)
#endif
    :: expire(R, 1) :: expire(R, 2)
    :: hasten(N, 1, st[RD(R, 1)] == STARTED || st[RD(R, 1)] == DONE)
    :: hasten(N, 2, st[RD(R, 2)] == STARTED || st[RD(R, 2)] == DONE)
    :: aborted(R, 1) :: aborted(R, 2)
    od
}

active proctype Sink() {
end:
    do
    INPUT(K, N)
    :: expire(K, 1) :: expire(K, 2)
    :: aborted(K, 1) :: aborted(K, 2)
    od
}

/* whole: what is in the state of a receiver, in its capture, in its sender's capture, is
   together, in order, what the sender has sent. */
hidden byte savedNow[N];
inline walk(l) {
    k = 0;
    do
    :: k < l.n ->
        a = l.v[k] >> 2;
        assert((l.v[k] & 3) == savedNow[a] + 1);
        savedNow[a]++; k++
    :: else -> break
    od
}
inline whole(id) {
    c = 0;
    do :: c < N -> savedNow[c] = saveR[SV(id, c)]; c++ :: else -> break od;
    c = 0;
    do
    :: c < N -> walk(capIn[CP(id, c)]); walk(capOut[CP(id, c)]); assert(savedNow[c] == savePos[SV(id, c)]); c++
    :: else -> break
    od;
    c = 0;
    do :: c < N -> savedNow[c] = saveK[SV(id, c)]; c++ :: else -> break od;
    walk(capIn[CP(id, N)]); walk(capOut[CP(id, N)]);
    c = 0;
    do :: c < N -> assert(savedNow[c] == saveR[SV(id, c)]); c++ :: else -> break od
}

inline tellAborted(id) {
    flying = flying & ~BIT(id);
    c = 0;
    do :: c < N + 2 -> dead[c] = dead[c] | BIT(id); c++ :: else -> break od
}
/* A member acknowledges when it is done and its barrier has left its output queue. That
   changes nothing else, so there is no step for it. */
#define ACK(s, id) (sst[(s) * IDS + (id) - 1] == DONE && LEFT(s, id))
#if N == 1
#define SOURCES(id) ACK(0, id)
#elif N == 2
#define SOURCES(id) (ACK(0, id) && ACK(1, id))
#else
#define SOURCES(id) (ACK(0, id) && ACK(1, id) && ACK(2, id))
#endif
inline completes(id) {
    d_step {
        (flying & BIT(id)) && SOURCES(id) && st[RD(R, id)] == DONE && LEFT(N, id) && st[RD(K, id)] == DONE ->
        whole(id);
        assert(complete < id);
        complete = id; flying = flying & ~BIT(id);
        if :: id == 2 && (flying & BIT(1)) -> tellAborted(1) :: else fi; /* subsumed */
        skip
    }
}
inline gives_up(id) {
    d_step { (flying & BIT(id)) && aborts < ABORTS -> aborts++; tellAborted(id); skip }
}

/* crash loses all but the last complete checkpoint, and starts again from there. */
inline crash() {
    d_step {
        crashes < CRASHES ->
        crashes++; flying = 0;
        i = 0;
        do
        :: i < E ->
            clear(out[i]); clear(in[i]); clear(rep[i]);
            load[i] = 0; credit[i] = C; given[i] = 0; last[i] = next - 1;
            append(rep[i], capIn[CP(complete, i)]);
            append(rep[i], capOut[CP(complete, i)]);
            i++
        :: else -> break
        od;
        i = 1;
        do
        :: i < next ->
            if
            :: i != complete -> kill(R, i); kill(K, i)
            :: else -> st[RD(R, i)] = DEAD; st[RD(K, i)] = DEAD
            fi;
            c = 0;
            do
            :: c < N ->
                sst[c * IDS + i - 1] = DEAD;
                if :: i != complete -> savePos[SV(i, c)] = 0; clear(capOut[CP(i, c)]) :: else fi;
                c++
            :: else -> break
            od;
            i++
        :: else -> break
        od;
        c = 0;
        do
        :: c < N ->
            pos[c] = savePos[SV(complete, c)];
            cnt[c] = saveR[SV(complete, c)]; cnt[N + c] = saveK[SV(complete, c)];
            trig[c] = 0; newest[c] = next - 1; c++
        :: else -> break
        od;
        c = 0;
        do :: c < N + 2 -> dead[c] = 0; c++ :: else -> break od;
        skip
    }
}

active proctype Coordinator() {
end:
    do
    :: d_step {
        next <= IDS && (FLIGHT > 1 || flying == 0) ->
        flying = flying | BIT(next);
        c = 0;
        do :: c < N -> trig[c] = trig[c] | BIT(next); c++ :: else -> break od;
        next++
       }
    :: completes(1) :: completes(2)
    :: gives_up(1) :: gives_up(2)
    :: crash()
    od
}

/* Every run is finite. At its end all records have been processed, and all checkpoints
   are complete or aborted. */
#if N == 1
#define ALL (cnt[N] == M)
#elif N == 2
#define ALL (cnt[N] == M && cnt[N + 1] == M)
#else
#define ALL (cnt[N] == M && cnt[N + 1] == M && cnt[N + 2] == M)
#endif
active proctype AtTheEnd() {
    timeout -> assert(ALL && flying == 0 && next == IDS + 1)
}
