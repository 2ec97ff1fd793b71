package pressure

import (
	"errors"
	"fmt"
	"time"

	"github.com/overtake-stream/overtake"
)

// Config says what to put under pressure. The zero value is nothing.
type Config struct {
	SlowSink time.Duration // that the last operator takes for a record
	Spin     bool          // it computes meanwhile, else it sleeps
	// Skew is the exponent of Zipf's law, above 1, that keys are drawn by: key k comes in
	// proportion to (1+k)^-Skew. 0: keys as the workload has them.
	Skew float64
	// Stall lets one subtask of the last operator, chosen by Seed, stand still for so long
	// at its first record, and again whenever it has worked for nine times as long.
	Stall time.Duration
	// Starve leaves each channel one buffer of credit, and none to borrow.
	Starve bool
	// SlowDisk is the bytes per second that the checkpoints' store takes or gives, all who
	// write and read together. 0: as fast as it can.
	SlowDisk int64
	Seed     uint64
}

// Active reports whether anything is under pressure.
func (c Config) Active() bool { return c.Kinds() != 0 }

// Validate reports all that is wrong.
func (c Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("pressure: "+format, args...)) }
	if c.SlowSink < 0 || c.Stall < 0 {
		bad("SlowSink %v, Stall %v: times are not negative", c.SlowSink, c.Stall)
	}
	if c.Skew != 0 && !(c.Skew > 1 && c.Skew <= 10) {
		bad("Skew is %v: set a number above 1, at most 10", c.Skew)
	}
	if c.SlowDisk != 0 && c.SlowDisk < 1000 {
		bad("SlowDisk is %d bytes per second: set at least 1000", c.SlowDisk)
	}
	return errors.Join(errs...)
}

// Parameters are those of a benchmark's result.
func (c Config) Parameters() map[string]any {
	m := map[string]any{}
	put := func(name string, set bool, value any) {
		if set {
			m["pressure_"+name] = value
		}
	}
	put("slow_sink_seconds", c.SlowSink > 0, c.SlowSink.Seconds())
	put("spin", c.SlowSink > 0, c.Spin)
	put("skew", c.Skew > 0, c.Skew)
	put("stall_seconds", c.Stall > 0, c.Stall.Seconds())
	put("starve", c.Starve, true)
	put("slow_disk_bytes_per_second", c.SlowDisk > 0, c.SlowDisk)
	put("seed", c.Active(), c.Seed)
	return m
}

// Options returns the options of a job under pressure. The store of its checkpoints is
// set already, if it has one: see Store.
func (c Config) Options(o overtake.Options) overtake.Options {
	if c.Starve {
		o.Network.Exclusive, o.Network.Floating, o.Network.Overdraft = 1, -1, -1
	}
	return o
}
