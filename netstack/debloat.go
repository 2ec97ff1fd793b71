package netstack

import "time"

// debloat chooses how far buffers are filled, so that what is in flight under
// backpressure is consumed in about a target time. It is the producer's: what it seals
// while it is held up is what the consumers take.
type debloat struct {
	fill    int           // bytes that an open buffer may take; the whole payload at first
	sealed  int64         // bytes sealed since the last look
	refused bool          // Available was false since then
	fits    bool          // buffers have been filled less far: memory behind them is given back
	rate    float64       // bytes a second, a moving average; 0: not known
	last    time.Duration // time of the last look
}

const (
	minFill     = 256                    // bytes
	debloatLook = 200 * time.Millisecond // between two looks
	smoothing   = 0.3                    // weight of the newest rate
)

// Debloat adapts the size of buffers now and then, so that data in flight is consumed
// in about target; call it often. A partition that does not hold its producer up
// fills its buffers to the end again. Records that are larger than the size are sent in
// buffers that hold them.
//
// In flight to one receiver are at most its queue here, and what it has credit for,
// which is taken to be as many buffers again.
func (p *Partition) Debloat(now, target time.Duration) {
	d := &p.debloat
	since := now - d.last
	if since < debloatLook {
		return
	}
	rate := float64(d.sealed) / since.Seconds()
	held := d.refused
	d.last, d.sealed, d.refused = now, 0, false
	if !held {
		d.rate = 0
		d.fill = min(2*d.fill, p.MaxRecord())
		return
	}
	if d.rate == 0 {
		d.rate = rate
	}
	d.rate += smoothing * (rate - d.rate)
	buffers := float64(2 * p.opts.MaxQueued * len(p.subs))
	want := int(d.rate*target.Seconds()/buffers) &^ 7
	want = max(minFill, min(want, p.MaxRecord()))
	if 4*want < 3*d.fill || 4*want > 5*d.fill || want == p.MaxRecord() { // less is noise
		d.fill = want
	}
}

// Fill is how far buffers are filled at present, in bytes.
func (p *Partition) Fill() int { return p.debloat.fill }
