// Package credit holds the two ends of credit-based flow control as pure state
// machines: no clock, no I/O, no goroutines, no locks. Callers serialise access.
//
// Credit is a cumulative limit per channel. The receiver announces "limit": the
// number of data buffers, counted from the start of the channel, that it has had
// or has room for. The sender keeps sent <= limit. A limit can be repeated, lost
// or overtaken by a later one without harm, and a new connection simply announces
// the current one again.
//
//	sender                                  receiver
//	sent=3 limit=5      -- data #3 -->      parked=2 received=3
//	sent=4              <-- limit=7 --      the consumer gave two buffers back
//
// Every unit of credit stands for a buffer that the receiver has already parked
// for the channel, so whatever arrives has a place to go and the connection that
// many channels share never stalls for one of them. Events need no credit.
//
// The sender reports its backlog (data buffers queued behind the one sent); the
// receiver parks floating buffers for it beyond the channel's exclusive ones.
// The scheme follows H. T. Kung and R. Morris, "Credit-Based Flow Control for ATM
// Networks" (IEEE Network, 1995), whose N23 scheme also counts cumulatively.
package credit
