package pressure

import (
	"fmt"
	"strings"
)

// Kinds is a set of kinds of pressure.
type Kinds uint8

// The kinds, each for a field of Config.
const (
	SlowSink Kinds = 1 << iota
	Skew
	Stall
	Starve
	SlowDisk
)

// Each returns the kinds of a set, one by one.
func (k Kinds) Each() (list []Kinds) {
	for one := SlowSink; one <= SlowDisk; one <<= 1 {
		if k&one != 0 {
			list = append(list, one)
		}
	}
	return list
}

// String names the kinds as the flags of the command line do, with commas between them.
func (k Kinds) String() string {
	names := map[Kinds]string{SlowSink: "slow-sink", Skew: "skew", Stall: "stall", Starve: "starve", SlowDisk: "slow-disk"}
	var parts []string
	for _, one := range k.Each() {
		parts = append(parts, names[one])
	}
	return strings.Join(parts, ", ")
}

// Kinds are those that the configuration has.
func (c Config) Kinds() (k Kinds) {
	add := func(one Kinds, set bool) {
		if set {
			k |= one
		}
	}
	add(SlowSink, c.SlowSink > 0)
	add(Skew, c.Skew > 0)
	add(Stall, c.Stall > 0)
	add(Starve, c.Starve)
	add(SlowDisk, c.SlowDisk > 0)
	return k
}

// Only is the configuration without other kinds than these.
func (c Config) Only(k Kinds) Config {
	drop := func(one Kinds, clear func()) {
		if k&one == 0 {
			clear()
		}
	}
	drop(SlowSink, func() { c.SlowSink, c.Spin = 0, false })
	drop(Skew, func() { c.Skew = 0 })
	drop(Stall, func() { c.Stall = 0 })
	drop(Starve, func() { c.Starve = false })
	drop(SlowDisk, func() { c.SlowDisk = 0 })
	return c
}

// Check reports all that is wrong, and kinds that whoever is named cannot be put under.
func (c Config) Check(who string, takes Kinds) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if more := c.Kinds() &^ takes; more != 0 {
		return fmt.Errorf("pressure: %s takes %v, and not %v", who, takes, more)
	}
	return nil
}
