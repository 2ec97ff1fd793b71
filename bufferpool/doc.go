// Package bufferpool hands out the buffers that records travel in.
//
// One Arena per worker is mapped off the Go heap and cut into segments of equal
// size, within a hard budget. Nothing is allocated after construction, and the
// garbage collector has nothing to scan: descriptors hold no pointers, and queues
// hold indices or small handles.
//
// A Pool is one owner's share of the arena: a partition's, a gate's, a
// connection's. It is also its owner's magazine: buffers that come back wait in it,
// still counted as held, and the next Get takes the most recent one, which is
// likely to be in the cache. Only when it is empty does a pool draw from the arena's
// shared free stack.
//
//	          draw (limit, others' minimum)        Get
//	Arena ───────────────────────────────▶ Pool ─────────▶ Buffer in use
//	 free  ◀─────────────────────────────── idle ◀─────────  Release
//	          give back (closed, over limit)
//
// # Quotas
//
// Min segments are reserved for a pool and cannot be lent to others. What is left
// of the arena floats: pools that want more, up to Max, share it in proportion, and
// the shares are worked out anew when pools come and go. A pool that holds more than
// its share gives back what is released next. Overdraft lets an owner finish what it
// cannot interrupt.
//
// Invariants, with all pools' held segments and the free ones making up the arena:
//
//   - The limits add up to at most the arena. So when a pool below its limit finds
//     nothing, another one has more in use than its own limit, and what that one
//     releases goes to the arena.
//   - No idle segment is out of others' reach, except within its pool's minimum: the
//     owner's own stack is empty while the pool holds more than that.
//   - A waiter is woken whenever its pool could get something, whoever else could.
//
// # Memory
//
// Pages are touched by use. Arena.FreeIdle gives those back that have lain free since it
// was called last, Buffer.Fit those behind what a buffer will hold.
//
// # Ownership
//
// Get, GetOverdraft, Available, NotifyAvailable and Recycle belong to the pool's
// owner, one goroutine at a time. Release may be called by any goroutine. A Buffer is
// counted: Retain shares it, and the last Release gives it back to its pool.
//
// The package starts no goroutines. Within the minimum, Get and Recycle take no lock.
// Otherwise there are two kinds of lock: the arena's, and below it one per pool;
// neither is held while a Waker runs.
//
// Getting a buffer never blocks: it succeeds, or the owner registers to be woken.
package bufferpool
