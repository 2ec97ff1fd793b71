package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/bench/pressure"
	"github.com/overtake-stream/overtake/bench/workload"
	"github.com/overtake-stream/overtake/connectors/files"
	"github.com/overtake-stream/overtake/connectors/generate"
)

type runCmd struct {
	profileFlags

	Wordcount    wordcountCmd    `cmd:"" help:"Count the words of files."`
	Totals       totalsCmd       `cmd:"" help:"Add up generated amounts by key."`
	Throughput   throughputCmd   `cmd:"" help:"Move generated records through two shuffles."`
	Backpressure backpressureCmd `cmd:"" help:"Feed a sink that is slower than its source."`
}

type wordcountCmd struct {
	jobFlags
	Input    string        `required:"" help:"Folder or file to read." placeholder:"PATH"`
	Glob     string        `help:"Which files below it: * within a name, ** for any folders." default:"**"`
	Output   string        `required:"" help:"File to write: a line \"word<TAB>count\" for each word." placeholder:"FILE"`
	SlowRead time.Duration `help:"Time to take for each block that is read."`
	SlowSink time.Duration `help:"Time to take for each line that is written."`
}

// Validate is called by kong.
func (c *wordcountCmd) Validate() error {
	return errors.Join(c.jobFlags.Validate(), notNegative("slow-read", c.SlowRead), notNegative("slow-sink", c.SlowSink))
}

// notNegative checks the time of a flag.
func notNegative(flag string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("--%s %v: times are not negative", flag, d)
	}
	return nil
}

// Run runs the job.
func (c *wordcountCmd) Run(e *env) error {
	return c.run(e, workload.WordCount{
		Root: c.Input, Glob: c.Glob, Output: c.Output, ReadDelay: c.SlowRead, Delay: c.SlowSink, Pressure: c.pressure(),
	}.Job)
}

// loadFlags are the flags of jobs with generated records.
type loadFlags struct {
	Count uint64  `help:"Records to generate; 0: until interrupted." default:"10000000"`
	Rate  float64 `help:"Records per second; 0: as many as possible." default:"0"`
}

func (f loadFlags) count() uint64 {
	if f.Count == 0 {
		return generate.Forever
	}
	return f.Count
}

type totalsCmd struct {
	jobFlags
	loadFlags
	Keys     uint64        `help:"Number of keys." default:"1000"`
	Every    bool          `help:"Write a line for every change of a total, not only the last."`
	Output   string        `help:"File to write: a line \"key<TAB>total\" for each key. With / at its end, or if it is one: folder, to which each subtask writes a file for each checkpoint. Default: standard output." placeholder:"FILE|FOLDER/"`
	SlowSink time.Duration `help:"Time to take for each line that is written."`
	Skew     float64       `help:"Draw keys by Zipf's law with this exponent, above 1." placeholder:"X" group:"Pressure:"`
}

// Validate is called by kong.
func (c *totalsCmd) Validate() error {
	if c.Keys == 0 {
		return errors.New("--keys 0: there must be at least one key")
	}
	return errors.Join(c.jobFlags.Validate(), c.pressure().Validate(), notNegative("slow-sink", c.SlowSink))
}

// pressure has the skew of the keys, too.
func (c *totalsCmd) pressure() pressure.Config {
	p := c.jobFlags.pressure()
	p.Skew = c.Skew
	return p
}

// Run runs the job.
func (c *totalsCmd) Run(e *env) error {
	return c.run(e, workload.Totals{
		Count: c.count(), Rate: c.Rate, Keys: c.Keys, Every: c.Every, Delay: c.SlowSink, Sink: c.sink(), Pressure: c.pressure(),
	}.Job)
}

func (c *totalsCmd) sink() overtake.Sink[overtake.Pair[uint64, int64]] {
	info, err := os.Stat(c.Output)
	switch {
	case c.Output == "":
		return files.Print[overtake.Pair[uint64, int64]](os.Stdout)
	case strings.HasSuffix(c.Output, "/"), err == nil && info.IsDir():
		return files.Transactional(c.Output, files.TSV[overtake.Pair[uint64, int64]])
	}
	return files.TSV[overtake.Pair[uint64, int64]](c.Output)
}

type throughputCmd struct {
	jobFlags
	loadFlags
	SlowSink time.Duration `help:"Time that the sink takes for a record."`
}

// Validate is called by kong.
func (c *throughputCmd) Validate() error {
	return errors.Join(c.jobFlags.Validate(), notNegative("slow-sink", c.SlowSink))
}

// Run runs the job.
func (c *throughputCmd) Run(e *env) error {
	return c.run(e, workload.Throughput{Count: c.count(), Rate: c.Rate, Delay: c.SlowSink, Pressure: c.pressure()}.Job)
}

type backpressureCmd struct {
	jobFlags
	loadFlags
	SlowSink time.Duration `help:"Time that the sink takes for a record." default:"1ms"`
}

// Validate is called by kong.
func (c *backpressureCmd) Validate() error {
	return errors.Join(c.jobFlags.Validate(), notNegative("slow-sink", c.SlowSink))
}

// Run runs the job.
func (c *backpressureCmd) Run(e *env) error {
	return c.run(e, workload.Backpressure{Count: c.count(), Rate: c.Rate, Delay: c.SlowSink, Pressure: c.pressure()}.Job)
}
