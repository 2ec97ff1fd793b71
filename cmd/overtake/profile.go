package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/overtake-stream/overtake"
	"github.com/overtake-stream/overtake/perf/profile"
)

// profileFlags are those of every command that runs jobs or measures.
type profileFlags struct {
	Profile    string `help:"Profile this process: cpu, clock, heap, allocs, mutex, block, goroutine, threads or trace. Samples of cpu and goroutine have the labels operator and subtask." enum:",cpu,clock,heap,allocs,mutex,block,goroutine,threads,trace" default:"" placeholder:"cpu|heap|mutex|block|trace|..." group:"Profile:"`
	ProfileDir string `help:"Folder for the profile; with --processes, the other workers' go to worker-1 and so on in it. Default: profile." placeholder:"DIR" group:"Profile:"`
}

// Validate is called by kong.
func (f profileFlags) Validate() error {
	if f.Profile == "" && f.ProfileDir != "" {
		return errors.New("--profile-dir needs --profile")
	}
	return nil
}

// profiled runs a command, and takes the profile that its flags ask for.
func (c *cli) profiled(command func() error) error {
	f := c.Run.profileFlags
	if f.Profile == "" {
		f = c.Bench.profileFlags
	}
	if f.Profile == "" {
		return command()
	}
	dir := f.ProfileDir
	if dir == "" {
		dir = "profile"
	}
	if overtake.IsCopy() {
		dir = filepath.Join(dir, fmt.Sprint("worker-", overtake.CopyIndex()))
	}
	var p profile.Profiler
	stop, err := p.Start(f.Profile, dir)
	if err != nil {
		return err
	}
	return errors.Join(command(), stop())
}
