package statecow_test

import (
	"testing"

	"github.com/overtake-stream/overtake/statecow"
	"github.com/overtake-stream/overtake/statecow/statetest"
)

func TestMapConformsToStore(t *testing.T) {
	statetest.Run(t, func(t testing.TB, c statetest.Config) statecow.Store {
		m, err := statecow.New(statecow.Options{Budget: 64 << 20, MaxGroups: c.MaxGroups, Groups: c.Groups})
		if err != nil {
			t.Fatal(err)
		}
		return m
	})
}
