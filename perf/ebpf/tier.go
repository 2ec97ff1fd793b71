package ebpf

import (
	"fmt"
)

// Tier is how much of a message's way can be seen.
type Tier uint8

// The tiers, see the package comment.
const (
	TierC Tier = iota
	TierB
	TierA
)

// String is the tier's letter.
func (t Tier) String() string {
	if t <= TierA {
		return string("CBA"[t])
	}
	return fmt.Sprintf("Tier(%d)", uint8(t))
}

// MarshalText implements encoding.TextMarshaler.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Describe says what the tier gives.
func (t Tier) Describe() string {
	switch t {
	case TierA:
		return "all stages, in both programs and in the kernel"
	case TierB:
		return "the stages of both programs; all between write and read is one stage"
	}
	return "no stages of messages: what TCP and the scheduler count"
}

// Refusal is a part that the kernel did not allow, or does not have.
type Refusal struct {
	Part   string `json:"part"`   // what was tried
	Reason string `json:"reason"` // the kernel's words
	Loses  string `json:"loses"`  // what is n/a without it
	Remedy string `json:"remedy"` // what would allow it, "": nothing would
}

// String is all of it on one line.
func (r Refusal) String() string {
	s := fmt.Sprintf("%s: %s; n/a: %s", r.Part, r.Reason, r.Loses)
	if r.Remedy != "" {
		s += "; " + r.Remedy
	}
	return s
}

// Support is what Check found.
type Support struct {
	Tier     Tier      `json:"tier"`
	Kernel   string    `json:"kernel"` // release
	Refusals []Refusal `json:"refusals"`
	Costs    []Cost    `json:"costs"`
}

// Cost is what a probe costs whoever runs into it, as measured on this machine just
// now.
type Cost struct {
	Probe string  `json:"probe"`
	When  string  `json:"when"` // how often it is paid
	Each  float64 `json:"each_ns"`
	NA    string  `json:"na,omitempty"` // why it could not be measured; Each says nothing then
}
