package probe

// Rate says how many messages are sampled.
type Rate int

// The rates, each a semaphore of the gate.
const (
	Adaptive  Rate = iota // see Sampler
	Every                 // every message: to look at a few, not to measure
	Every64               // one of 64
	Every1024             // one of 1,024
	Rates                 // number of rates
)

// Attached reports whether somebody looks. It is a load, inlined.
func Attached() bool { return enabled && gate[gateWord] != 0 }

// gateWord is where the semaphores are, behind Magic.
const gateWord = 2

// attached returns the highest rate that somebody wants.
func attached() Rate {
	word := gate[gateWord]
	for _, r := range [...]Rate{Every, Every64, Adaptive} {
		if word>>(16*r)&0xffff != 0 {
			return r
		}
	}
	return Every1024
}

// Magic returns the 16 bytes in front of the semaphores. It puts them together so that
// they are found once only in the data of a program.
func Magic() [16]byte {
	var m [16]byte
	for i := range m {
		m[i] = byte(gate[i/8] >> (8 * (i % 8)))
	}
	return m
}
